version: "${m.version}"
description: "${m.sentence}"
dependencies:
  idf: ">=4.4"
