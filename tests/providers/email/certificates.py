"""A certificate authority for one test run, and servers' certificates, good and bad.

They have what RFC 5280 asks for: Python 3.13 verifies strictly (VERIFY_X509_STRICT), so it wants
the identifiers of both keys and the authority's key usage.
"""

from __future__ import annotations

import ssl
from datetime import timedelta
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from providers import clock

DAY = timedelta(days=1)
_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


class Authority:
    """Signs what it is asked to; clients trust `client_context()`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = generate_private_key(SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "An authority for tests")])
        self._certificate = (
            self
            ._builder(self._name, self._key, starts_in=-DAY)
            .issuer_name(self._name)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
            .add_extension(_name_of(self._key), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    def client_context(self) -> ssl.SSLContext:
        pem = self._certificate.public_bytes(Encoding.PEM).decode()
        return ssl.create_default_context(cadata=pem)

    def client_file(self) -> Path:
        """The certificate of the authority, for SSL_CERT_FILE."""
        file = self._folder / "authority.pem"
        file.write_bytes(self._certificate.public_bytes(Encoding.PEM))
        return file

    def server_context(
        self, *hosts: str, starts_in: timedelta = -DAY, self_signed: bool = False
    ) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        file = self.server_file(*hosts, starts_in=starts_in, self_signed=self_signed)
        context.load_cert_chain(file)
        return context

    def server_file(
        self, *hosts: str, starts_in: timedelta = -DAY, self_signed: bool = False
    ) -> Path:
        """A server's key and its certificate for three days, in one file."""
        key = generate_private_key(SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, hosts[0])])
        names = [_general_name(host) for host in hosts]
        signer = key if self_signed else self._key
        certificate = (
            self
            ._builder(name, key, starts_in=starts_in)
            .issuer_name(name if self_signed else self._name)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .add_extension(_signed_by(signer), critical=False)
            .sign(signer, hashes.SHA256())
        )
        file = self._folder / f"{certificate.serial_number:x}.pem"
        secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        file.write_bytes(secret + certificate.public_bytes(Encoding.PEM))
        return file

    def _builder(
        self, name: x509.Name, key: EllipticCurvePrivateKey, *, starts_in: timedelta
    ) -> x509.CertificateBuilder:
        starts_at = clock.now() + starts_in
        return (
            x509
            .CertificateBuilder()
            .subject_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(starts_at)
            .not_valid_after(starts_at + 3 * DAY)
        )


def _name_of(key: EllipticCurvePrivateKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(key.public_key())


def _signed_by(key: EllipticCurvePrivateKey) -> x509.AuthorityKeyIdentifier:
    return x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(IPv4Address(host))
    except ValueError:
        return x509.DNSName(host)
