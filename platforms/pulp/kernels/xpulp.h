#ifdef TILEWRIGHT_XPULP
/* The instructions of Xpulpv2 that the kernels use, as macros of the assembler: compilers do not know them. `post` is
 * what a load or store adds to its address register. A hardware loop's `last` is its last instruction, not one behind. */
__asm__(".macro p.lw rd, post, base\n .insn i 0x0b, 2, \\rd, \\post(\\base)\n .endm\n"
        ".macro p.lwr rd, step, base\n .insn r 0x0b, 7, 0x10, \\rd, \\base, \\step\n .endm\n"
        ".macro p.lb rd, post, base\n .insn i 0x0b, 0, \\rd, \\post(\\base)\n .endm\n"
        ".macro p.lbu rd, post, base\n .insn i 0x0b, 4, \\rd, \\post(\\base)\n .endm\n"
        ".macro p.lh rd, post, base\n .insn i 0x0b, 1, \\rd, \\post(\\base)\n .endm\n"
        ".macro p.sw rs, post, base\n .insn s 0x2b, 2, \\rs, \\post(\\base)\n .endm\n"
        ".macro p.sh rs, post, base\n .insn s 0x2b, 1, \\rs, \\post(\\base)\n .endm\n"
        ".macro p.sb rs, post, base\n .insn s 0x2b, 0, \\rs, \\post(\\base)\n .endm\n"
        ".macro pv.dotsp.b rd, rs1, rs2\n .insn r 0x57, 1, 0x4c, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro pv.sdotsp.b rd, rs1, rs2\n .insn r 0x57, 1, 0x5c, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro pv.sdotusp.b rd, rs1, rs2\n .insn r 0x57, 1, 0x54, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro pv.packlo.b rd, rs1, rs2\n .insn r 0x57, 1, 0x70, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro pv.packhi.b rd, rs1, rs2\n .insn r 0x57, 1, 0x6c, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro pv.pack.h rd, rs1, rs2\n .insn r 0x57, 0, 0x68, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro pv.shuffle2.b rd, rs1, rs2\n .insn r 0x57, 1, 0x64, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro p.mac rd, rs1, rs2\n .insn r 0x33, 0, 0x21, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro p.min rd, rs1, rs2\n .insn r 0x33, 4, 0x02, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro p.max rd, rs1, rs2\n .insn r 0x33, 6, 0x02, \\rd, \\rs1, \\rs2\n .endm\n"
        ".macro p.clip rd, rs1, bits\n .insn r 0x33, 1, 0x0a, \\rd, \\rs1, x\\bits\n .endm\n"
        ".macro p.clipu rd, rs1, bits\n .insn r 0x33, 2, 0x0a, \\rd, \\rs1, x\\bits\n .endm\n"
        ".macro p.addN rd, rs1, rs2, shift\n .insn r 0x5b, 2, \\shift, \\rd, \\rs1, \\rs2\n .endm\n"
        ".irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, "
        "28, 29, 30, 31\n .set .Ltilewright_x\\r, \\r\n .endr\n"
        ".macro lp.setup loop, count, last\n"
        " .word 0x407b | (\\loop << 7) | (.Ltilewright_\\count << 15) | (((\\last - .) >> 1) << 20)\n .endm\n");
#endif
