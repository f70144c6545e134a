"""A software bill of materials of an image: SPDX 2.3 as JSON (ISO/IEC 5962, spdx.github.io/spdx-spec/v2.3)."""

from __future__ import annotations

import hashlib

from tilewright.evidence.document import Hashed, Identity
from tilewright.report.codec import Json

FILE = "sbom.spdx.json"
CREATED = "1970-01-01T00:00:00Z"
"""SPDX asks for a moment; the same inputs give the same file, so it is the first one there is."""
_NOTHING = "NOASSERTION"


def sbom(name: str, target: str, identity: Identity) -> Json:
    """The document: the image as a package of the generated files, from the model, by tilewright and a compiler."""
    image = _package("Image", f"{name} on {target}", identity.elf, "built of the files that tilewright generated")
    together = "".join(sorted(each.sha1 for each in identity.sources))
    image |= {
        "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1(together.encode()).hexdigest()},
        "licenseInfoFromFiles": [_NOTHING],
    }
    model = _package("Model", identity.model.name, identity.model, "the network as given")
    tool = _package("Tool", identity.tool.name, identity.tool, "SHA-256 over the names and hashes of its sources")
    tool |= {"versionInfo": identity.tool.version, "licenseDeclared": "Apache-2.0"}
    compilers = [
        _package(f"Compiler-{number}", each.name, each, "a program of the compiler")
        | ({"versionInfo": each.version} if each.version else {})
        for number, each in enumerate(identity.compiler)
    ]
    files = [_file(number, each) for number, each in enumerate(identity.sources)]
    pairs = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-Image")]
    pairs += [("SPDXRef-Image", "GENERATED_FROM", "SPDXRef-Model"), ("SPDXRef-Tool", "BUILD_TOOL_OF", "SPDXRef-Image")]
    pairs += [(f"SPDXRef-Compiler-{n}", "BUILD_TOOL_OF", "SPDXRef-Image") for n in range(len(compilers))]
    pairs += [("SPDXRef-Image", "CONTAINS", f"SPDXRef-File-{n}") for n in range(len(files))]
    digest = hashlib.sha256("\n".join(each.sha256 for each in identity.sources).encode()).hexdigest()
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"{name} on {target}",
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{digest}",
        "creationInfo": {"created": CREATED, "creators": [f"Tool: tilewright-{identity.tool.version}"]},
        "packages": [image, model, tool, *compilers],
        "files": [*files],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other} for one, kind, other in pairs
        ],
    }


def _package(identifier: str, name: str, hashed: Hashed | None, comment: str) -> dict[str, Json]:
    package: dict[str, Json] = {
        "SPDXID": f"SPDXRef-{identifier}",
        "name": name,
        "downloadLocation": _NOTHING,
        "filesAnalyzed": False,
        "licenseConcluded": _NOTHING,
        "licenseDeclared": _NOTHING,
        "copyrightText": _NOTHING,
        "comment": comment,
    }
    return package | ({} if hashed is None else {"checksums": [_checksum(hashed.sha256)]})


def _file(number: int, hashed: Hashed) -> Json:
    return {
        "SPDXID": f"SPDXRef-File-{number}",
        "fileName": f"./{hashed.name}",
        "checksums": [{"algorithm": "SHA1", "checksumValue": hashed.sha1}, _checksum(hashed.sha256)],
        "licenseConcluded": _NOTHING,
        "licenseInfoInFiles": [_NOTHING],
        "copyrightText": _NOTHING,
    }


def _checksum(sha256: str) -> Json:
    return {"algorithm": "SHA256", "checksumValue": sha256}
