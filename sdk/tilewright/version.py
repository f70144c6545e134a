"""The version of the SDK; it stands in every report and in every generated file."""

VERSION = "0.1.0"
