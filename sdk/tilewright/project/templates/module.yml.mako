name: "${m.zephyr}"
build:
  cmake: zephyr
  kconfig: zephyr/Kconfig
