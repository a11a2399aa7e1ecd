"""A certificate authority and a certificate for nodes on loopback, both new."""

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

NODE_NAME = "opensearch-node"
CA_FILE = "ca.pem"
NODE_FILE = "node.pem"
KEY_FILE = "node.key"
_VALID = datetime.timedelta(days=7)


@dataclass(frozen=True)
class _Issuer:
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


def write_certificates(folder: Path) -> None:
    """Write the CA's certificate, the nodes' certificate, and its key (PKCS#8) as PEM files."""
    issuer = _new_authority()
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = _node_certificate(key, issuer)
    (folder / CA_FILE).write_bytes(_pem(issuer.certificate))
    (folder / NODE_FILE).write_bytes(_pem(certificate))
    (folder / KEY_FILE).touch(mode=0o600)
    (folder / KEY_FILE).write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def _new_authority() -> _Issuer:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Footnote test CA")
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = _builder(name, name, key).add_extension(identifier, critical=False)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(signs_certificates=True), critical=True)
    return _Issuer(key, builder.sign(key, hashes.SHA256()))


def _node_certificate(key: ec.EllipticCurvePrivateKey, issuer: _Issuer) -> x509.Certificate:
    """For a server and a client: nodes connect to each other with it."""
    roles = x509.ExtendedKeyUsage(
        [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
    )
    loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    hosts = x509.SubjectAlternativeName([x509.DNSName("localhost"), loopback])
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key())
    builder = _builder(_name(NODE_NAME), issuer.certificate.subject, key)
    for extension in (roles, hosts, authority):
        builder = builder.add_extension(extension, critical=False)
    builder = builder.add_extension(_usage(signs_certificates=False), critical=True)
    return builder.sign(issuer.key, hashes.SHA256())


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + _VALID)
    )


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
