# Start-up of a cluster on QEMU's machine virt: hart 0 runs the program and plays the DMA, harts 1 to 8 are the cores.
# Memory protection is always on. A core may use its stack, the work that it is given and the bytes of L1 in use; hart 0
# all of L2 and the bytes of L1 in use. The rest traps, L2 for the cores included, but for constants with TW_CORES_READ.
# L1 ends at its page, with TW_FENCE at its last byte in use: QEMU is slow on a page that is open in part.
#ifdef TW_FENCE
#define L1_END __l1_used_end
#else
#define L1_END __l1_page_end
#endif
    .option arch, +zicsr
    .macro limit csr, symbol
    la      t0, \symbol
    srli    t0, t0, 2
    csrw    \csr, t0
    .endm
    .macro number csr, value
    li      t0, \value
    csrw    \csr, t0
    .endm

    .section .init.start, "ax"
    .globl _start
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    csrwi   mie, 8                  # wfi wakes on a software interrupt; mstatus.MIE is 0, so none is taken
    number  pmpaddr0, 0x02000000 >> 2
    number  pmpaddr1, 0x02010000 >> 2
    limit   pmpaddr2, __text_start
    limit   pmpaddr3, __text_end
    csrr    s0, mhartid
    bnez    s0, core

    limit   pmpaddr4, __constants_end
    limit   pmpaddr5, __core_stacks
    limit   pmpaddr6, __l2_used_end
    limit   pmpaddr7, __l1_used_start
    limit   pmpaddr8, L1_END
    limit   pmpaddr9, __l3_used_start
    limit   pmpaddr10, __l3_used_end
    number  pmpaddr11, -1
    number  pmpcfg2, 0x8889888b     # L1 rw, nothing, L3 r, nothing
    number  pmpcfg1, 0x888b8889     # constants r, nothing, L2 rw, nothing
    number  pmpcfg0, 0x8d888b88     # nothing, interrupts rw, nothing, code rx
    la      sp, __stack_top
    la      tp, __tls_base
    la      t0, trap
    csrw    mtvec, t0
    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b
2:  la      t0, __l1_used_start     # what no copy brought is no zero
    la      t1, __l1_used_end
    li      t2, 0xa5a5a5a5
3:  bgeu    t0, t1, 4f
    sw      t2, 0(t0)
    addi    t0, t0, 4
    j       3b
4:  call    tw_wait_for_cores
    call    main
7:  wfi
    j       7b

core:
    la      t0, core_trap
    csrw    mtvec, t0
    li      t1, 8
    bgtu    s0, t1, 7b
    la      s1, __core_stacks
    la      t2, __core_stack_size
    addi    t0, s0, -1
    mv      t1, s1
8:  beqz    t0, 9f
    add     t1, t1, t2
    addi    t0, t0, -1
    j       8b
9:  add     sp, t1, t2
    mv      tp, t1                  # errno lies at the far end of the core's own stack
#ifdef TW_CORES_READ
    limit   pmpaddr4, __constants_end
#else
    limit   pmpaddr4, __rodata_end
#endif
    srli    t0, t1, 2
    csrw    pmpaddr5, t0
    srli    t0, sp, 2
    csrw    pmpaddr6, t0
    limit   pmpaddr7, __shared_start
    limit   pmpaddr8, __shared_end
    limit   pmpaddr9, __stack_limit
    limit   pmpaddr10, __stack_top
    limit   pmpaddr11, __l1_used_start
    limit   pmpaddr12, L1_END
#ifdef TW_CORES_READ
    limit   pmpaddr13, __l3_used_start
    limit   pmpaddr14, __l3_used_end
    number  pmpaddr15, -1
    number  pmpcfg3, 0x8889888b     # L1 rw, nothing, L3 r, nothing
#else
    number  pmpaddr13, -1
    number  pmpcfg3, 0x888b         # L1 rw, nothing
#endif
    number  pmpcfg2, 0x8889888b     # shared rw, nothing, stack of hart 0 r, nothing
    number  pmpcfg1, 0x888b8889     # constants r, nothing, own stack rw, nothing
    number  pmpcfg0, 0x8d888b88
    mv      a0, s0
    call    tw_core_main
    j       7b

    .align 2
trap:
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    la      sp, tw_trap_stack_top   # the interrupted stack may be what overran
    call    tw_riscv_trap
10: j       10b

    .align 2
core_trap:                          # an instruction of Xpulp is emulated on the core's own stack
    csrw    mscratch, t0
    csrr    t0, mcause
    addi    t0, t0, -2
    bnez    t0, core_fault
    csrr    t0, mscratch
    addi    sp, sp, -128
    .irp    r, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sw      x\r, 4 * \r(sp)
    .endr
    sw      zero, 0(sp)
    addi    t0, sp, 128
    sw      t0, 8(sp)
    mv      a0, sp
    csrr    a1, mepc
    csrr    a2, mhartid
    call    tw_emulate
    beqz    a0, core_fault
    csrw    mepc, a0
    .irp    r, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    lw      x\r, 4 * \r(sp)
    .endr
    addi    sp, sp, 128
    mret

core_fault:                         # hart 0 tells; this core has nothing that it could trust
    la      t0, tw_core_fault
    csrr    t1, mcause
    sw      t1, 4(t0)
    csrr    t1, mepc
    sw      t1, 8(t0)
    csrr    t1, mtval
    sw      t1, 12(t0)
    fence
    li      t1, 1
    sw      t1, 0(t0)
    fence
    li      t0, 0x02000000
    sw      t1, 0(t0)
11: wfi
    j       11b

    .section .bss.tw_trap_stack, "aw", @nobits
    .balign 16
    .space  512
tw_trap_stack_top:
