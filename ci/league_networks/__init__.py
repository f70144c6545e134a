"""The networks of `ci/league`: architectures drawn at small sizes, forms of quantisation, files of others."""
