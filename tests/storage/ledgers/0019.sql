BEGIN TRANSACTION;
CREATE TABLE accounts (
	id VARCHAR NOT NULL,
	issuer VARCHAR NOT NULL,
	subject VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	email VARCHAR NOT NULL,
	role VARCHAR NOT NULL,
	groups JSON NOT NULL,
	created_at DATETIME NOT NULL,
	signed_in_at DATETIME NOT NULL,
	seen_at DATETIME NOT NULL,
	disabled_at DATETIME, email_verified BOOLEAN DEFAULT 0 NOT NULL,
	CONSTRAINT pk_accounts PRIMARY KEY (id),
	CONSTRAINT uq_accounts_issuer UNIQUE (issuer, subject)
);
INSERT INTO "accounts" VALUES('5d0c2f7e9b1a4c3d8e6f7a8b9c0d1e2f','https://login.example.com','ada-1','Ada Lovelace','ada@example.com','editor','["hr"]','2026-11-26 09:00:00.000000','2026-11-26 09:00:00.000000','2026-11-26 10:00:00.000000',NULL,1);
CREATE TABLE administrator_links (
	digest VARCHAR NOT NULL,
	until DATETIME NOT NULL,
	CONSTRAINT pk_administrator_links PRIMARY KEY (digest)
);
INSERT INTO "administrator_links" VALUES('fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210','2026-11-27 09:00:00.000000');
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, oldest VARCHAR,
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0019','0019');
CREATE TABLE api_keys (
	id VARCHAR NOT NULL,
	digest VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	scopes JSON NOT NULL,
	created_at DATETIME NOT NULL,
	used_at DATETIME,
	revoked_at DATETIME, expires_at DATETIME, groups JSON DEFAULT '[]' NOT NULL,
	CONSTRAINT pk_api_keys PRIMARY KEY (id),
	CONSTRAINT uq_api_keys_digest UNIQUE (digest)
);
INSERT INTO "api_keys" VALUES('key-1','0000000000000000000000000000000000000000000000000000000000000000','Nightly report','local','["read", "ask"]','2026-11-20 09:00:00.000000',NULL,NULL,'2027-11-26 09:00:00.000000','["hr"]');
CREATE TABLE audit_events (
	id INTEGER NOT NULL,
	at DATETIME NOT NULL,
	actor VARCHAR NOT NULL,
	actor_name VARCHAR NOT NULL,
	api_key VARCHAR NOT NULL,
	action VARCHAR NOT NULL,
	object_kind VARCHAR NOT NULL,
	object_id VARCHAR NOT NULL,
	detail JSON NOT NULL,
	CONSTRAINT pk_audit_events PRIMARY KEY (id)
);
INSERT INTO "audit_events" VALUES(1,'2026-11-27 04:50:00.000000','local','','','source.created','source','s1','{}');
CREATE TABLE conversation_links (
	conversation_id VARCHAR NOT NULL,
	token VARCHAR NOT NULL,
	created_at DATETIME NOT NULL,
	CONSTRAINT pk_conversation_links PRIMARY KEY (conversation_id),
	CONSTRAINT fk_conversation_links_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE,
	CONSTRAINT uq_conversation_links_token UNIQUE (token)
);
INSERT INTO "conversation_links" VALUES('24418d979cd74701a338c48002b114f6','Jq0mUe7m0Z0w3bq2oO8o4cQ0m6mXyq3mJrT2vB1yK9E','2026-11-27 09:30:00.000000');
CREATE TABLE conversation_texts (
	conversation_id VARCHAR NOT NULL,
	turn_id VARCHAR NOT NULL,
	text VARCHAR NOT NULL,
	CONSTRAINT pk_conversation_texts PRIMARY KEY (conversation_id, turn_id),
	CONSTRAINT fk_conversation_texts_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE
);
INSERT INTO "conversation_texts" VALUES('24418d979cd74701a338c48002b114f6','','how many days of annual leave do new employees get?');
INSERT INTO "conversation_texts" VALUES('24418d979cd74701a338c48002b114f6','67891469dff240bea02163826a892537','how many days of annual leave do new employees get?
“new employees get 25 days of annual leave a year.” [1]');
CREATE TABLE conversations (
	id VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	title VARCHAR NOT NULL,
	created_at DATETIME NOT NULL,
	updated_at DATETIME NOT NULL, shown_turn_id VARCHAR DEFAULT '' NOT NULL, search JSON DEFAULT '{}' NOT NULL, deleted_at DATETIME,
	CONSTRAINT pk_conversations PRIMARY KEY (id)
);
INSERT INTO "conversations" VALUES('24418d979cd74701a338c48002b114f6','local','How many days of annual leave do new employees get?','2026-11-26 19:25:55.406640','2026-11-26 19:25:56.582261','67891469dff240bea02163826a892537','{"scope": {"sources": [], "collections": [], "formats": [], "labels": [], "since": "", "until": ""}, "mode": null, "k": null, "score_threshold": null, "by_agent": false}',NULL);
CREATE TABLE counters (
	name VARCHAR NOT NULL,
	value INTEGER NOT NULL,
	CONSTRAINT pk_counters PRIMARY KEY (name)
);
INSERT INTO "counters" VALUES('restrictions',2);
CREATE TABLE discarded_passages (
	index_id VARCHAR NOT NULL,
	passage_id VARCHAR NOT NULL,
	CONSTRAINT pk_discarded_passages PRIMARY KEY (index_id, passage_id),
	CONSTRAINT fk_discarded_passages_index_id_indexes FOREIGN KEY(index_id) REFERENCES indexes (id) ON DELETE CASCADE
);
INSERT INTO "discarded_passages" VALUES('b2cd06f119b441f29f19df1ad005a02f','passage-of-a-killed-import');
CREATE TABLE document_restrictions (
	document_id VARCHAR NOT NULL,
	restriction_id VARCHAR NOT NULL,
	CONSTRAINT pk_document_restrictions PRIMARY KEY (document_id, restriction_id),
	CONSTRAINT fk_document_restrictions_restriction_id_restrictions FOREIGN KEY(restriction_id) REFERENCES restrictions (id) ON DELETE CASCADE
);
INSERT INTO "document_restrictions" VALUES('no-longer-there','0f8a1c3e5b7d9f2a4c6e8b0d1f3a5c7e');
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
	revision INTEGER NOT NULL, characters INTEGER DEFAULT 0 NOT NULL, script VARCHAR DEFAULT '' NOT NULL, passages INTEGER DEFAULT 0 NOT NULL, longest_passage INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_documents PRIMARY KEY (id),
	CONSTRAINT fk_documents_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE,
	CONSTRAINT uq_documents_source_id UNIQUE (source_id, "key")
);
INSERT INTO "documents" VALUES('f07337c65f0d8f5e02b684704d4f2705','9799e3b3ec1d6b6ed9b684a0e56567f6','leave.md','d6a71db2b42ad7205c3a9344c632263ec2af96240bfd82852e106a00e353ee71',2,'Leave policy','/srv/handbook/leave.md','md','utf-8','[]','[]','{"modified_at": "2026-11-26T19:25:36Z", "collection": "handbook", "labels": [], "own_labels": []}','2026-11-26 19:25:43.429478',1,164,'latin',2,113);
INSERT INTO "documents" VALUES('d04f38ca1d35059e4ab466cd3710e5cf','9799e3b3ec1d6b6ed9b684a0e56567f6','vpn.md','6278164ee293f143b61610d85829b7183198a489073a99f8d362d8f50ef864dd',2,'VPN','/srv/handbook/vpn.md','md','utf-8','[]','[]','{"modified_at": "2026-11-26T19:25:36Z", "collection": "handbook", "labels": [], "own_labels": []}','2026-11-26 19:25:43.641010',1,56,'latin',1,56);
INSERT INTO "documents" VALUES('f618382066f05aff4debed85d7a04d9f','9799e3b3ec1d6b6ed9b684a0e56567f6','휴가.md','91898ce3f6f3fb6855722fbd38818e3c4b814f9c13c0e5ce6e09411446b3dd27',2,'휴가 규정','/srv/handbook/휴가.md','md','utf-8','[]','[]','{"modified_at": "2026-11-26T19:25:36Z", "collection": "handbook", "labels": [], "own_labels": []}','2026-11-26 19:25:43.653698',1,49,'korean',1,49);
CREATE TABLE ended_sessions (
	digest VARCHAR NOT NULL,
	until DATETIME NOT NULL,
	CONSTRAINT pk_ended_sessions PRIMARY KEY (digest)
);
INSERT INTO "ended_sessions" VALUES('0123456789abcdef0123456789abcdef','2026-12-28 09:00:00.000000');
CREATE TABLE failures (
	source_id VARCHAR NOT NULL,
	"key" VARCHAR NOT NULL,
	version VARCHAR NOT NULL,
	formats_version INTEGER NOT NULL,
	reason VARCHAR NOT NULL, location VARCHAR DEFAULT '' NOT NULL, again BOOLEAN DEFAULT 0 NOT NULL, dismissed BOOLEAN DEFAULT 0 NOT NULL, failed_at DATETIME, title VARCHAR DEFAULT '' NOT NULL, is_error BOOLEAN DEFAULT 1 NOT NULL,
	CONSTRAINT pk_failures PRIMARY KEY (source_id, "key"),
	CONSTRAINT fk_failures_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
INSERT INTO "failures" VALUES('9799e3b3ec1d6b6ed9b684a0e56567f6','empty.pdf','e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',2,'the file is empty','/srv/handbook/empty.pdf',0,0,'2026-11-26 19:25:43.069530','',1);
CREATE TABLE import_items (
	id INTEGER NOT NULL,
	import_id VARCHAR NOT NULL,
	"key" VARCHAR NOT NULL,
	location VARCHAR NOT NULL,
	outcome VARCHAR NOT NULL,
	reason VARCHAR NOT NULL,
	passages INTEGER NOT NULL, pages INTEGER DEFAULT 0 NOT NULL, characters INTEGER DEFAULT 0 NOT NULL, tokens INTEGER DEFAULT 0 NOT NULL, title VARCHAR DEFAULT '' NOT NULL,
	CONSTRAINT pk_import_items PRIMARY KEY (id),
	CONSTRAINT fk_import_items_import_id_imports FOREIGN KEY(import_id) REFERENCES imports (id) ON DELETE CASCADE
);
INSERT INTO "import_items" VALUES(1,'2b7a23d7d7a84b869ff54772593ca67c','empty.pdf','/srv/handbook/empty.pdf','failed','the file is empty',0,0,0,0,'');
INSERT INTO "import_items" VALUES(2,'2b7a23d7d7a84b869ff54772593ca67c','leave.md','/srv/handbook/leave.md','new','',2,0,164,0,'Leave policy');
INSERT INTO "import_items" VALUES(3,'2b7a23d7d7a84b869ff54772593ca67c','vpn.md','/srv/handbook/vpn.md','new','',1,0,56,0,'VPN');
INSERT INTO "import_items" VALUES(4,'2b7a23d7d7a84b869ff54772593ca67c','휴가.md','/srv/handbook/휴가.md','new','',1,0,49,0,'휴가 규정');
CREATE TABLE import_portions (
	import_id VARCHAR NOT NULL,
	number INTEGER NOT NULL,
	documents JSON NOT NULL,
	worker VARCHAR NOT NULL,
	was_taken BOOLEAN NOT NULL,
	CONSTRAINT pk_import_portions PRIMARY KEY (import_id, number),
	CONSTRAINT fk_import_portions_import_id_imports FOREIGN KEY(import_id) REFERENCES imports (id) ON DELETE CASCADE
);
INSERT INTO "import_portions" VALUES('2b7a23d7d7a84b869ff54772593ca67c',1,'[{"key": "vpn.md", "version": "6278164ee293f143b61610d85829b7183198a489073a99f8d362d8f50ef864dd", "location": "/srv/handbook/vpn.md"}]','',1);
CREATE TABLE import_turns (
	user_id VARCHAR NOT NULL,
	source_id VARCHAR NOT NULL,
	turn INTEGER NOT NULL,
	CONSTRAINT pk_import_turns PRIMARY KEY (user_id, source_id),
	CONSTRAINT fk_import_turns_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
INSERT INTO "import_turns" VALUES('local','9799e3b3ec1d6b6ed9b684a0e56567f6',1);
CREATE TABLE imports (
	id VARCHAR NOT NULL,
	source_id VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	state VARCHAR NOT NULL,
	started_at DATETIME NOT NULL,
	finished_at DATETIME,
	message VARCHAR NOT NULL,
	seconds DOUBLE NOT NULL,
	passages_embedded INTEGER NOT NULL, kind VARCHAR DEFAULT 'import' NOT NULL, options JSON DEFAULT '{}' NOT NULL, wish VARCHAR DEFAULT '' NOT NULL, worker VARCHAR DEFAULT '' NOT NULL, lease_until DATETIME, progress JSON DEFAULT '{}' NOT NULL, counts JSON DEFAULT '{}' NOT NULL, retry_at DATETIME, attempts INTEGER DEFAULT 0 NOT NULL,
	CONSTRAINT pk_imports PRIMARY KEY (id),
	CONSTRAINT fk_imports_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
INSERT INTO "imports" VALUES('2b7a23d7d7a84b869ff54772593ca67c','9799e3b3ec1d6b6ed9b684a0e56567f6','local','completed with errors','2026-11-26 19:25:42.683381','2026-11-26 19:25:54.275416','{"message": "{failures} could not be read", "values": {"failures": "1"}}',1.15845453219953924421e+01,4,'import','{}','','',NULL,'{"stage": "writing", "done": 4, "total": 4, "key": "\ud734\uac00.md", "passages": 4, "part": 4, "parts": 4, "read": 4, "expected": 4, "seconds_left": null}','{"failed": 1, "new": 3}',NULL,0);
CREATE TABLE indexes (
	id VARCHAR NOT NULL,
	spec JSON NOT NULL,
	fingerprint VARCHAR NOT NULL,
	state VARCHAR NOT NULL,
	created_at DATETIME NOT NULL,
	CONSTRAINT pk_indexes PRIMARY KEY (id)
);
INSERT INTO "indexes" VALUES('b2cd06f119b441f29f19df1ad005a02f','{"embedding": {"provider": "builtin", "model": "multilingual-e5-small", "precision": "int8", "path": null, "base_url": null, "dimensions": null}, "embedding_fingerprint": "builtin;multilingual-e5-small;1571fc982750;centers=1;graph=1;int8;dim=384;unit", "splitter_version": "1", "size": 1000, "overlap": 150, "engine": "embedded"}','builtin;multilingual-e5-small;1571fc982750;centers=1;graph=1;int8;dim=384;unit; splitter 1 1000/150; entries 2','active','2026-11-26 19:25:43.420308');
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
INSERT INTO "labels" VALUES('label-1','local','How much leave?','dececf310186a0dbdd351f31e6f213fd','f07337c65f0d8f5e02b684704d4f2705',0,113,'# Leave policy

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
INSERT INTO "passages" VALUES('b2cd06f119b441f29f19df1ad005a02f','dececf310186a0dbdd351f31e6f213fd','f07337c65f0d8f5e02b684704d4f2705',0,0,113,NULL,'["Leave policy", "Annual leave"]','# Leave policy

## Annual leave

New employees get 25 days of annual leave a year. Unused days lapse on 31 March.');
INSERT INTO "passages" VALUES('b2cd06f119b441f29f19df1ad005a02f','8ebc8e6a8e5d58ce83be5305f3fafc89','f07337c65f0d8f5e02b684704d4f2705',1,115,164,NULL,'["Leave policy", "Sick leave"]','## Sick leave

Tell your lead before ten o''clock.');
INSERT INTO "passages" VALUES('b2cd06f119b441f29f19df1ad005a02f','b0cd64dad6ab328b9b7060c35b8311af','d04f38ca1d35059e4ab466cd3710e5cf',0,0,56,NULL,'["VPN"]','# VPN

Install WireGuard and choose the Bristol gateway.');
INSERT INTO "passages" VALUES('b2cd06f119b441f29f19df1ad005a02f','c2568b46ae1492356f977319430840f7','f618382066f05aff4debed85d7a04d9f',0,0,49,NULL,'["\ud734\uac00 \uaddc\uc815"]','# 휴가 규정

신규 입사자는 첫해에 연차 15일을 받습니다. 2년차부터는 16일입니다.');
CREATE TABLE places (
	document_id VARCHAR NOT NULL,
	catalogue_id VARCHAR NOT NULL,
	place_id VARCHAR NOT NULL,
	title VARCHAR NOT NULL,
	types JSON NOT NULL,
	fields JSON NOT NULL,
	facts JSON NOT NULL,
	rating DOUBLE,
	ratings INTEGER NOT NULL,
	latitude DOUBLE,
	longitude DOUBLE,
	aspects JSON NOT NULL,
	CONSTRAINT pk_places PRIMARY KEY (document_id),
	CONSTRAINT fk_places_document_id_documents FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE
);
INSERT INTO "places" VALUES('f07337c65f0d8f5e02b684704d4f2705','9799e3b3ec1d6b6ed9b684a0e56567f6','p1','Noodle Bar','["ramen"]','{}','{}',4.5,12,51.45,-2.58,'{"food": [3, 1]}');
CREATE TABLE ratings (
	turn_id VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	grade INTEGER NOT NULL,
	reason VARCHAR NOT NULL,
	comment VARCHAR NOT NULL,
	created_at DATETIME NOT NULL,
	CONSTRAINT pk_ratings PRIMARY KEY (turn_id, user_id),
	CONSTRAINT fk_ratings_turn_id_turns FOREIGN KEY(turn_id) REFERENCES turns (id) ON DELETE CASCADE
);
INSERT INTO "ratings" VALUES('67891469dff240bea02163826a892537','local',-1,'wrong answer','나쁨','2026-11-20 09:00:00.000000');
CREATE TABLE recent_questions (
	id INTEGER NOT NULL,
	user_id VARCHAR NOT NULL,
	at DATETIME NOT NULL,
	CONSTRAINT pk_recent_questions PRIMARY KEY (id)
);
INSERT INTO "recent_questions" VALUES(1,'local','2026-11-27 05:00:00.000000');
CREATE TABLE restriction_readers (
	restriction_id VARCHAR NOT NULL,
	reader VARCHAR NOT NULL,
	CONSTRAINT pk_restriction_readers PRIMARY KEY (restriction_id, reader),
	CONSTRAINT fk_restriction_readers_restriction_id_restrictions FOREIGN KEY(restriction_id) REFERENCES restrictions (id) ON DELETE CASCADE
);
INSERT INTO "restriction_readers" VALUES('collection:HR','group:hr');
INSERT INTO "restriction_readers" VALUES('0f8a1c3e5b7d9f2a4c6e8b0d1f3a5c7e','user:ada');
CREATE TABLE restrictions (
	id VARCHAR NOT NULL,
	CONSTRAINT pk_restrictions PRIMARY KEY (id)
);
INSERT INTO "restrictions" VALUES('collection:HR');
INSERT INTO "restrictions" VALUES('0f8a1c3e5b7d9f2a4c6e8b0d1f3a5c7e');
CREATE TABLE source_secrets (
	source_id VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	token VARCHAR NOT NULL,
	CONSTRAINT pk_source_secrets PRIMARY KEY (source_id, name),
	CONSTRAINT fk_source_secrets_source_id_sources FOREIGN KEY(source_id) REFERENCES sources (id) ON DELETE CASCADE
);
INSERT INTO "source_secrets" VALUES('9799e3b3ec1d6b6ed9b684a0e56567f6','token','gAAAAAB-not-a-real-token');
CREATE TABLE sources (
	id VARCHAR NOT NULL,
	kind VARCHAR NOT NULL,
	name VARCHAR NOT NULL,
	location VARCHAR NOT NULL,
	options JSON NOT NULL,
	created_at DATETIME NOT NULL, paused BOOLEAN DEFAULT 0 NOT NULL, refresh_s INTEGER, mark JSON DEFAULT '{}' NOT NULL,
	CONSTRAINT pk_sources PRIMARY KEY (id),
	CONSTRAINT uq_sources_kind UNIQUE (kind, location)
);
INSERT INTO "sources" VALUES('9799e3b3ec1d6b6ed9b684a0e56567f6','directory','handbook','/srv/handbook','{"include": ["**/*"], "exclude": []}','2026-11-26 19:25:42.675273',0,NULL,'{}');
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
	usage JSON NOT NULL, standalone_given BOOLEAN DEFAULT 0 NOT NULL, parent_id VARCHAR, search JSON DEFAULT '{}' NOT NULL, steps JSON DEFAULT '[]' NOT NULL, reasoning VARCHAR DEFAULT '' NOT NULL, basis JSON DEFAULT '[]' NOT NULL,
	CONSTRAINT pk_turns PRIMARY KEY (id),
	CONSTRAINT fk_turns_conversation_id_conversations FOREIGN KEY(conversation_id) REFERENCES conversations (id) ON DELETE CASCADE,
	CONSTRAINT uq_turns_conversation_id UNIQUE (conversation_id, position)
);
INSERT INTO "turns" VALUES('67891469dff240bea02163826a892537','24418d979cd74701a338c48002b114f6',1,'old-host/1/537d8271','How many days of annual leave do new employees get?','complete','2026-11-26 19:25:55.409789','How many days of annual leave do new employees get?','“New employees get 25 days of annual leave a year.” [1]','','built-in extractive answerer','[{"n": 1, "passage_id": "dececf310186a0dbdd351f31e6f213fd", "document_id": "f07337c65f0d8f5e02b684704d4f2705", "title": "Leave policy", "location": "/srv/handbook/leave.md", "text": "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual leave a year. Unused days lapse on 31 March.", "version": "d6a71db2b42ad7205c3a9344c632263ec2af96240bfd82852e106a00e353ee71", "page": null, "heading_path": ["Leave policy", "Annual leave"], "score": 1.0, "start": 0, "why": {"score": 1.0, "parts": [["dense", 1, 0.7377360463142395, 0.45], ["bm25", 1, 8.132156372070312, 0.55]], "matched_words": ["Leave", "Annual", "leave", "New", "employees", "get", "days", "annual"], "move": null, "condition": {}}, "hits": [], "format": "md"}, {"n": 2, "passage_id": "c2568b46ae1492356f977319430840f7", "document_id": "f618382066f05aff4debed85d7a04d9f", "title": "\ud734\uac00 \uaddc\uc815", "location": "/srv/handbook/\ud734\uac00.md", "text": "# \ud734\uac00 \uaddc\uc815\n\n\uc2e0\uaddc \uc785\uc0ac\uc790\ub294 \uccab\ud574\uc5d0 \uc5f0\ucc28 15\uc77c\uc744 \ubc1b\uc2b5\ub2c8\ub2e4. 2\ub144\ucc28\ubd80\ud130\ub294 16\uc77c\uc785\ub2c8\ub2e4.", "version": "91898ce3f6f3fb6855722fbd38818e3c4b814f9c13c0e5ce6e09411446b3dd27", "page": null, "heading_path": ["\ud734\uac00 \uaddc\uc815"], "score": 0.4457149421207806, "start": 0, "why": {"score": 0.4457149421207806, "parts": [["dense", 2, 0.4292224049568176, 0.4457149421207806], ["bm25", null, null, 0.0]], "matched_words": [], "move": null, "condition": {}}, "hits": [], "format": "md"}, {"n": 3, "passage_id": "8ebc8e6a8e5d58ce83be5305f3fafc89", "document_id": "f07337c65f0d8f5e02b684704d4f2705", "title": "Leave policy", "location": "/srv/handbook/leave.md", "text": "## Sick leave\n\nTell your lead before ten o''clock.", "version": "d6a71db2b42ad7205c3a9344c632263ec2af96240bfd82852e106a00e353ee71", "page": null, "heading_path": ["Leave policy", "Sick leave"], "score": 0.22201503765468805, "start": 115, "why": {"score": 0.22201503765468805, "parts": [["dense", 3, 0.3524806797504425, 0.22201503765468805], ["bm25", 2, 1.1972543001174927, 0.0]], "matched_words": ["Leave", "leave"], "move": null, "condition": {}}, "hits": [], "format": "md"}, {"n": 4, "passage_id": "b0cd64dad6ab328b9b7060c35b8311af", "document_id": "d04f38ca1d35059e4ab466cd3710e5cf", "title": "VPN", "location": "/srv/handbook/vpn.md", "text": "# VPN\n\nInstall WireGuard and choose the Bristol gateway.", "version": "6278164ee293f143b61610d85829b7183198a489073a99f8d362d8f50ef864dd", "page": null, "heading_path": ["VPN"], "score": 0.0, "start": 0, "why": {"score": 0.0, "parts": [["dense", 4, -0.022686541080474854, 0.0], ["bm25", null, null, 0.0]], "matched_words": [], "move": null, "condition": {}}, "hits": [], "format": "md"}]','[{"n": 1, "state": "verified", "quote": "New employees get 25 days of annual leave a year.", "title": "Leave policy", "location": "/srv/handbook/leave.md", "document_id": "f07337c65f0d8f5e02b684704d4f2705", "passage_id": "dececf310186a0dbdd351f31e6f213fd", "version": "d6a71db2b42ad7205c3a9344c632263ec2af96240bfd82852e106a00e353ee71", "page": null, "heading_path": ["Leave policy", "Annual leave"], "start": 33, "end": 82, "passage_text": "# Leave policy\n\n## Annual leave\n\nNew employees get 25 days of annual leave a year. Unused days lapse on 31 March.", "quoted_by_answer": true}]',0,'{"found": 1079.9, "first_token": 1151.8, "total": 1155.7}','{}',0,NULL,'{"scope": {"sources": [], "collections": [], "formats": [], "labels": [], "since": "", "until": ""}, "mode": "convex", "k": 5, "score_threshold": null, "by_agent": false}','[]','','["d04f38ca1d35059e4ab466cd3710e5cf", "f07337c65f0d8f5e02b684704d4f2705", "f618382066f05aff4debed85d7a04d9f"]');
CREATE TABLE uploaded_files (
	location VARCHAR NOT NULL,
	"key" VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	bytes BIGINT NOT NULL,
	CONSTRAINT pk_uploaded_files PRIMARY KEY (location, "key")
);
INSERT INTO "uploaded_files" VALUES('uploads/box','leave.txt','local',12);
CREATE TABLE uploads (
	id VARCHAR NOT NULL,
	user_id VARCHAR NOT NULL,
	at DATETIME NOT NULL,
	files INTEGER NOT NULL,
	bytes BIGINT NOT NULL,
	is_stored BOOLEAN NOT NULL,
	CONSTRAINT pk_uploads PRIMARY KEY (id)
);
INSERT INTO "uploads" VALUES('u1','local','2026-11-27 05:00:00.000000',1,12,1);
CREATE TABLE users (
	owner_id VARCHAR NOT NULL,
	id VARCHAR NOT NULL,
	preferences JSON NOT NULL,
	language VARCHAR NOT NULL,
	CONSTRAINT pk_users PRIMARY KEY (owner_id, id)
);
INSERT INTO "users" VALUES('local','kim','{"food": 4.0}','ko');
CREATE TABLE workers (
	name VARCHAR NOT NULL,
	lease_until DATETIME NOT NULL,
	CONSTRAINT pk_workers PRIMARY KEY (name)
);
INSERT INTO "workers" VALUES('old-host/1/abcd','2026-11-20 09:00:00.000000');
CREATE INDEX ix_conversations_user_id ON conversations (user_id, updated_at);
CREATE INDEX ix_imports_source_id ON imports (source_id);
CREATE INDEX ix_import_items_import_id ON import_items (import_id);
CREATE INDEX ix_passages_id ON passages (id);
CREATE INDEX ix_labels_user_id ON labels (user_id, created_at);
CREATE INDEX ix_imports_state ON imports (state, started_at);
CREATE INDEX ix_places_catalogue_id ON places (catalogue_id, place_id);
CREATE INDEX ix_passages_document_id ON passages (document_id, index_id, ordinal);
CREATE INDEX ix_documents_listed ON documents (source_id, format, script, title, "key", imported_at, passages, id, revision);
CREATE INDEX ix_audit_events_at ON audit_events (at);
CREATE INDEX ix_audit_events_actor ON audit_events (actor, at);
CREATE INDEX ix_recent_questions_user_id ON recent_questions (user_id, at);
CREATE INDEX ix_uploads_user_id ON uploads (user_id, at);
CREATE INDEX ix_uploaded_files_user_id ON uploaded_files (user_id, bytes);
COMMIT;
