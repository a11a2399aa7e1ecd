BEGIN TRANSACTION;
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0002');
CREATE TABLE conversations (
	id VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	title VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	updated_at DATETIME NOT NULL, 
	CONSTRAINT pk_conversations PRIMARY KEY (id)
);
INSERT INTO "conversations" VALUES('d2b6a049afd54fd48f3b36984f015f73','local','How many days of annual leave do new employees get?','2026-11-26 12:04:38.289729','2026-11-26 12:04:43.461058');
CREATE TABLE discarded_passages (
	index_id VARCHAR NOT NULL, 
	passage_id VARCHAR NOT NULL, 
	CONSTRAINT pk_discarded_passages PRIMARY KEY (index_id, passage_id), 
	CONSTRAINT fk_discarded_passages_index_id_indexes FOREIGN KEY(index_id) REFERENCES indexes (id) ON DELETE CASCADE
);
INSERT INTO "discarded_passages" VALUES('601722857ed04f509e64b8991b527f1f','passage-of-a-killed-import');
CREATE TABLE document_texts (
	document_id VARCHAR NOT NULL, 
	text VARCHAR NOT NULL, 
	CONSTRAINT pk_document_texts PRIMARY KEY (document_id), 
	CONSTRAINT fk_document_texts_document_id_documents FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE
);
INSERT INTO "document_texts" VALUES('f07337c65f0d8f5e02b684704d4f2705','# Leave policy

## Annual leave

New employees get 25 days of annual leave a year. Unused days lapse on 31 March.

## Sick leave

Tell your lead before ten o''clock.');
INSERT INTO "document_texts" VALUES('d04f38ca1d35059e4ab466cd3710e5cf','# VPN

Install WireGuard and choose the Bristol gateway.');
INSERT INTO "document_texts" VALUES('f618382066f05aff4debed85d7a04d9f','# 휴가 규정

신규 입사자는 첫해에 연차 15일을 받습니다. 2년차부터는 16일입니다.');
CREATE TABLE documents (
	id VARCHAR NOT NULL, 
	source_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	formats_version INTEGER NOT NULL, 
	title VARCHAR NOT NULL, 
	location VARCHAR NOT NULL, 
	format VARCHAR NOT NULL, 
	encoding VARCHAR, 
	pages JSON NOT NULL, 
	warnings JSON NOT NULL, 
	details JSON NOT NULL, 
	imported_at DATETIME NOT NULL, 
	revision INTEGER NOT NULL, 
	CONSTRAINT pk_documents PRIMARY KEY (id), 
	CONSTRAINT fk_documents_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE, 
	CONSTRAINT uq_documents_source_id UNIQUE (source_id, "key")
);
INSERT INTO "documents" VALUES('f07337c65f0d8f5e02b684704d4f2705','9799e3b3ec1d6b6ed9b684a0e56567f6','leave.md','5f5a818ac73b35a02dac72f7da042ef3c3ca9bc3a9080adb342ffce9bbae6847',1,'Leave policy','/srv/handbook/leave.md','md','utf-8','[]','[]','{"modified_at": "2026-11-26T11:58:56Z", "collection": "handbook", "labels": [], "own_labels": []}','2026-11-26 12:04:21.300253',1);
INSERT INTO "documents" VALUES('d04f38ca1d35059e4ab466cd3710e5cf','9799e3b3ec1d6b6ed9b684a0e56567f6','vpn.md','d5f20e798b88affa59a0ed14f62c1a5339bc0d5883daf665b027a9261f46fb33',1,'VPN','/srv/handbook/vpn.md','md','utf-8','[]','[]','{"modified_at": "2026-11-26T11:58:56Z", "collection": "handbook", "labels": [], "own_labels": []}','2026-11-26 12:04:21.727116',1);
INSERT INTO "documents" VALUES('f618382066f05aff4debed85d7a04d9f','9799e3b3ec1d6b6ed9b684a0e56567f6','휴가.md','0affeea2d93aad671799bfa61681f556641de6a78c84599d5d99cba67c0e3894',1,'휴가 규정','/srv/handbook/휴가.md','md','utf-8','[]','[]','{"modified_at": "2026-11-26T11:58:56Z", "collection": "handbook", "labels": [], "own_labels": []}','2026-11-26 12:04:21.727434',1);
CREATE TABLE failures (
	source_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	version VARCHAR NOT NULL, 
	formats_version INTEGER NOT NULL, 
	reason VARCHAR NOT NULL, 
	CONSTRAINT pk_failures PRIMARY KEY (source_id, "key"), 
	CONSTRAINT fk_failures_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
INSERT INTO "failures" VALUES('9799e3b3ec1d6b6ed9b684a0e56567f6','empty.pdf','e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',1,'the file is empty');
CREATE TABLE import_items (
	id INTEGER NOT NULL, 
	import_id VARCHAR NOT NULL, 
	"key" VARCHAR NOT NULL, 
	location VARCHAR NOT NULL, 
	outcome VARCHAR NOT NULL, 
	reason VARCHAR NOT NULL, 
	passages INTEGER NOT NULL, 
	CONSTRAINT pk_import_items PRIMARY KEY (id), 
	CONSTRAINT fk_import_items_import_id_imports FOREIGN KEY(import_id) REFERENCES imports (id) ON DELETE CASCADE
);
INSERT INTO "import_items" VALUES(1,'b843c4d5b3ff46f887c6f33488897843','empty.pdf','/srv/handbook/empty.pdf','failed','the file is empty',0);
INSERT INTO "import_items" VALUES(2,'b843c4d5b3ff46f887c6f33488897843','leave.md','/srv/handbook/leave.md','new','',2);
INSERT INTO "import_items" VALUES(3,'b843c4d5b3ff46f887c6f33488897843','vpn.md','/srv/handbook/vpn.md','new','',1);
INSERT INTO "import_items" VALUES(4,'b843c4d5b3ff46f887c6f33488897843','휴가.md','/srv/handbook/휴가.md','new','',1);
CREATE TABLE imports (
	id VARCHAR NOT NULL, 
	source_id VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	started_at DATETIME NOT NULL, 
	finished_at DATETIME, 
	message VARCHAR NOT NULL, 
	seconds DOUBLE NOT NULL, 
	passages_embedded INTEGER NOT NULL, 
	CONSTRAINT pk_imports PRIMARY KEY (id), 
	CONSTRAINT fk_imports_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
INSERT INTO "imports" VALUES('b843c4d5b3ff46f887c6f33488897843','9799e3b3ec1d6b6ed9b684a0e56567f6','local','completed with errors','2026-11-26 12:04:21.241763','2026-11-26 12:04:33.375098','1 could not be read',1.21208632979978574444e+01,4);
CREATE TABLE indexes (
	id VARCHAR NOT NULL, 
	spec JSON NOT NULL, 
	fingerprint VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_indexes PRIMARY KEY (id)
);
INSERT INTO "indexes" VALUES('601722857ed04f509e64b8991b527f1f','{"embedding": {"provider": "builtin", "model": "all-MiniLM-L6-v2", "precision": "int8", "path": null, "base_url": null, "dimensions": null}, "embedding_fingerprint": "builtin;all-MiniLM-L6-v2;53aa51172d14;graph=1;int8;dim=384;unit", "splitter_version": "1", "size": 1000, "overlap": 150}','builtin;all-MiniLM-L6-v2;53aa51172d14;graph=1;int8;dim=384;unit; splitter 1 1000/150; entries 2','active','2026-11-26 12:04:21.305676');
CREATE TABLE labels (
	id VARCHAR NOT NULL, 
	user_id VARCHAR NOT NULL, 
	question VARCHAR NOT NULL, 
	passage_id VARCHAR NOT NULL, 
	document_id VARCHAR NOT NULL, 
	start INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	text VARCHAR NOT NULL, 
	grade INTEGER NOT NULL, 
	origin VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_labels PRIMARY KEY (id)
);
INSERT INTO "labels" VALUES('label-1','local','How much leave?','62bbf77684b8177d6c85c3ac5802199e','f07337c65f0d8f5e02b684704d4f2705',0,113,'# Leave policy

## Annual leave

New employees get 25 days of annual leave a year. Unused days lapse on 31 March.',1,'lab','2026-11-20 09:00:00.000000');
CREATE TABLE passages (
	index_id VARCHAR NOT NULL, 
	id VARCHAR NOT NULL, 
	document_id VARCHAR NOT NULL, 
	ordinal INTEGER NOT NULL, 
	start INTEGER NOT NULL, 
	"end" INTEGER NOT NULL, 
	page INTEGER, 
	heading_path JSON NOT NULL, 
	text VARCHAR NOT NULL, 
	CONSTRAINT pk_passages PRIMARY KEY (index_id, id), 
	CONSTRAINT fk_passages_document_id_documents FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE, 
	CONSTRAINT fk_passages_index_id_indexes FOREIGN KEY(index_id) REFERENCES indexes (id) ON DELETE CASCADE
);
INSERT INTO "passages" VALUES('601722857ed04f509e64b8991b527f1f','62bbf77684b8177d6c85c3ac5802199e','f07337c65f0d8f5e02b684704d4f2705',0,0,113,NULL,'["Leave policy", "Annual leave"]','# Leave policy

## Annual leave

New employees get 25 days of annual leave a year. Unused days lapse on 31 March.');
INSERT INTO "passages" VALUES('601722857ed04f509e64b8991b527f1f','14cefb86bf62c615202e66a5567822d0','f07337c65f0d8f5e02b684704d4f2705',1,115,164,NULL,'["Leave policy", "Sick leave"]','## Sick leave

Tell your lead before ten o''clock.');
INSERT INTO "passages" VALUES('601722857ed04f509e64b8991b527f1f','cf5c33f86960bff9d4a2c2b96638780e','d04f38ca1d35059e4ab466cd3710e5cf',0,0,56,NULL,'["VPN"]','# VPN

Install WireGuard and choose the Bristol gateway.');
INSERT INTO "passages" VALUES('601722857ed04f509e64b8991b527f1f','0187b76053b446e5503ddd7d3f24f384','f618382066f05aff4debed85d7a04d9f',0,0,49,NULL,'["\ud734\uac00 \uaddc\uc815"]','# 휴가 규정

신규 입사자는 첫해에 연차 15일을 받습니다. 2년차부터는 16일입니다.');
CREATE TABLE sources (
	id VARCHAR NOT NULL, 
	kind VARCHAR NOT NULL, 
	name VARCHAR NOT NULL, 
	location VARCHAR NOT NULL, 
	options JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	CONSTRAINT pk_sources PRIMARY KEY (id), 
	CONSTRAINT uq_sources_kind UNIQUE (kind, location)
);
INSERT INTO "sources" VALUES('9799e3b3ec1d6b6ed9b684a0e56567f6','directory','handbook','/srv/handbook','{"include": ["**/*"], "exclude": []}','2026-11-26 12:04:21.234403');
CREATE TABLE turns (
	id VARCHAR NOT NULL, 
	conversation_id VARCHAR NOT NULL, 
	position INTEGER NOT NULL, 
	process VARCHAR NOT NULL, 
	question VARCHAR NOT NULL, 
	state VARCHAR NOT NULL, 
	created_at DATETIME NOT NULL, 
	standalone_question VARCHAR NOT NULL, 
	answer VARCHAR NOT NULL, 
	error VARCHAR NOT NULL, 
	model VARCHAR NOT NULL, 
	sources JSON NOT NULL, 
	citations JSON NOT NULL, 
	unsupported_sentences INTEGER NOT NULL, 
	timings_ms JSON NOT NULL, 
	usage JSON NOT NULL, 
	CONSTRAINT pk_turns PRIMARY KEY (id), 
	CONSTRAINT fk_turns_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE, 
	CONSTRAINT uq_turns_conversation_id UNIQUE (conversation_id, position)
);
INSERT INTO "turns" VALUES('16d04e9054b24d349152e996e0175d4c','d2b6a049afd54fd48f3b36984f015f73',1,'old-host/1','How many days of annual leave do new employees get?','complete','2026-11-26 12:04:38.310646','How many days of annual leave do new employees get?','“New employees get 25 days of annual leave a year.” [1]','','built-in extractive answerer','[{"n": 1, "passage_id": "62bbf77684b8177d6c85c3ac5802199e", "document_id": "f07337c65f0d8f5e02b684704d4f2705", "title": "Leave policy", "location": "/srv/handbook/leave.md", "text": "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual leave a year. Unused days lapse on 31 March.", "version": "5f5a818ac73b35a02dac72f7da042ef3c3ca9bc3a9080adb342ffce9bbae6847", "page": null, "heading_path": ["Leave policy", "Annual leave"], "score": 1.0, "start": 0, "why": {"score": 1.0, "parts": [["dense", 1, 0.7404356598854065, 0.5], ["bm25", 1, 8.132156372070312, 0.5]], "matched_words": ["Leave", "Annual", "leave", "New", "employees", "get", "days", "annual"], "move": null, "condition": {}}}, {"n": 2, "passage_id": "14cefb86bf62c615202e66a5567822d0", "document_id": "f07337c65f0d8f5e02b684704d4f2705", "title": "Leave policy", "location": "/srv/handbook/leave.md", "text": "## Sick leave\n\nTell your lead before ten o''clock.", "version": "5f5a818ac73b35a02dac72f7da042ef3c3ca9bc3a9080adb342ffce9bbae6847", "page": null, "heading_path": ["Leave policy", "Sick leave"], "score": 0.2536946367420997, "start": 115, "why": {"score": 0.2536946367420997, "parts": [["dense", 2, 0.3766278624534607, 0.2536946367420997], ["bm25", 2, 1.1972543001174927, 0.0]], "matched_words": ["Leave", "leave"], "move": null, "condition": {}}}, {"n": 3, "passage_id": "cf5c33f86960bff9d4a2c2b96638780e", "document_id": "d04f38ca1d35059e4ab466cd3710e5cf", "title": "VPN", "location": "/srv/handbook/vpn.md", "text": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.", "version": "d5f20e798b88affa59a0ed14f62c1a5339bc0d5883daf665b027a9261f46fb33", "page": null, "heading_path": ["VPN"], "score": 0.0, "start": 0, "why": {"score": 0.0, "parts": [["dense", 3, 0.0019056648015975952, 0.0], ["bm25", null, null, 0.0]], "matched_words": [], "move": null, "condition": {}}}]','[{"n": 1, "state": "verified", "quote": "New employees get 25 days of annual leave a year.", "title": "Leave policy", "location": "/srv/handbook/leave.md", "document_id": "f07337c65f0d8f5e02b684704d4f2705", "passage_id": "62bbf77684b8177d6c85c3ac5802199e", "version": "5f5a818ac73b35a02dac72f7da042ef3c3ca9bc3a9080adb342ffce9bbae6847", "page": null, "heading_path": ["Leave policy", "Annual leave"], "start": 33, "end": 82, "passage_text": "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual leave a year. Unused days lapse on 31 March.", "quoted_by_answer": true}]',0,'{"total": 5119.9, "first_token": 5116.3, "found": 5094.4}','{}');
CREATE INDEX ix_conversations_user_id ON conversations (user_id, updated_at);
CREATE INDEX ix_imports_source_id ON imports (source_id);
CREATE INDEX ix_import_items_import_id ON import_items (import_id);
CREATE INDEX ix_passages_document_id ON passages (document_id);
CREATE INDEX ix_passages_id ON passages (id);
CREATE INDEX ix_labels_user_id ON labels (user_id, created_at);
COMMIT;
