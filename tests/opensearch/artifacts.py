"""What a node consists of, by Maven coordinates; Maven's own settings and mirrors apply."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

VERSION = "2.19.1"
PLUGIN_VERSION = f"{VERSION}.0"
MAVEN_PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1"
SEARCH_PLUGINS = ("opensearch-knn", "neural-search")
"""Maven has k-NN without its native libraries: of its engines only `lucene` works."""
SECURITY_PLUGIN = "opensearch-security"
PLUGINS = {
    "opensearch-knn": "eab8c9818865bc035212eab5068cdacae164baa09d4c152f49b736d6f6b0e85c",
    "neural-search": "b17ca1d774692902c58cbae102bf463970740c31d81446866e8eabd336e285aa",
    "opensearch-security": "94a04f12ac6033902209fac1e4e512618d45beee604bbf0e42c3ed79c55220cf",
}
"""The SHA-256 of each plugin's archive; some mirrors of Maven Central have no checksums of them."""

_CORE = (
    f"org.opensearch:opensearch:{VERSION}",
    f"org.opensearch:opensearch-plugin-classloader:{VERSION}",
    "org.apache.logging.log4j:log4j-api:2.21.0",
    "org.apache.logging.log4j:log4j-core:2.21.0",
    "org.locationtech.jts:jts-core:1.15.0",
    "org.locationtech.spatial4j:spatial4j:0.7",
)
_FILE_NAME = re.compile(r"(?P<artifact>.+?)-\d[\w.-]*\.(jar|zip)")


@dataclass(frozen=True)
class Module:
    """A part of OpenSearch with a class loader of its own.

    A class may be in the core or in a module, never in both; so each jar belongs to one of them.
    """

    name: str
    classname: str
    artifact: str
    libraries: tuple[str, ...] = ()
    extends: str = ""

    @property
    def jars(self) -> frozenset[str]:
        return frozenset((self.artifact, *self.libraries))

    @property
    def descriptor(self) -> str:
        """The text of plugin-descriptor.properties, which Maven's jars lack."""
        values = {
            "name": self.name,
            "description": self.name,
            "version": VERSION,
            "opensearch.version": VERSION,
            "java.version": "11",
            "classname": self.classname,
            "extended.plugins": self.extends,
            "has.native.controller": "false",
        }
        return "".join(f"{name}={value}\n" for name, value in values.items())


MODULES = (
    Module(
        "lang-painless",
        "org.opensearch.painless.PainlessPlugin",
        "lang-painless",
        (
            *("opensearch-scripting-painless-spi", "antlr4-runtime"),
            *("asm", "asm-analysis", "asm-commons", "asm-tree", "asm-util"),
        ),
    ),
    Module(
        "analysis-common",
        "org.opensearch.analysis.common.CommonAnalysisPlugin",
        "analysis-common",
        extends="lang-painless",
    ),
    Module(
        "mapper-extras",
        "org.opensearch.index.mapper.MapperExtrasPlugin",
        "mapper-extras-client",
    ),
    Module("parent-join", "org.opensearch.join.ParentJoinPlugin", "parent-join-client"),
    Module(
        "lang-mustache",
        "org.opensearch.script.mustache.MustachePlugin",
        "lang-mustache-client",
        ("compiler",),
    ),
    Module(
        "reindex",
        "org.opensearch.index.reindex.ReindexPlugin",
        "reindex-client",
        (
            *("opensearch-rest-client", "opensearch-ssl-config"),
            *("httpclient", "httpcore", "httpasyncclient", "httpcore-nio"),
            *("commons-codec", "commons-logging"),
        ),
    ),
    Module(
        "transport-netty4",
        "org.opensearch.transport.Netty4Plugin",
        "transport-netty4-client",
        (
            *("netty-buffer", "netty-codec", "netty-codec-http", "netty-common", "netty-handler"),
            *("netty-resolver", "netty-transport", "netty-transport-native-unix-common"),
        ),
    ),
)


def artifact_of(file_name: str) -> str:
    """`asm-util` for `asm-util-9.7.jar`."""
    match = _FILE_NAME.fullmatch(file_name)
    return match["artifact"] if match else file_name


def jars_project() -> str:
    """A pom.xml with every jar as a dependency."""
    modules = (f"org.opensearch.plugin:{module.artifact}:{VERSION}" for module in MODULES)
    spi = f"org.opensearch.plugin:opensearch-scripting-painless-spi:{VERSION}"
    return _project(_dependency(coordinates) for coordinates in (*_CORE, *modules, spi))


def archives_project() -> str:
    """A pom.xml with the archive of every plugin as a dependency."""
    names = (f"org.opensearch.plugin:{name}:{PLUGIN_VERSION}" for name in PLUGINS)
    return _project(_dependency(coordinates, archive=True) for coordinates in names)


def _project(dependencies: Iterable[str]) -> str:
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n'
        "<modelVersion>4.0.0</modelVersion>\n"
        "<groupId>footnote</groupId><artifactId>opensearch</artifactId><version>1</version>\n"
        f"<packaging>pom</packaging>\n<dependencies>\n{''.join(dependencies)}</dependencies>\n"
        "</project>\n"
    )


def _dependency(coordinates: str, *, archive: bool = False) -> str:
    group, artifact, version = coordinates.split(":")
    everything = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
    # An archive contains the libraries of its plugin.
    alone = f"<type>zip</type><exclusions>{everything}</exclusions>" if archive else ""
    return (
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version>{alone}</dependency>\n"
    )
