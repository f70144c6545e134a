# Start-up of the test image on a RISC-V core in machine mode: memory, stack, traps and, with TW_FENCE, the PMP.
    .option arch, +zicsr
    .section .init.start, "ax"
    .globl _start
_start:
    csrr    t0, mhartid
    bnez    t0, park
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __stack_top
    la      tp, __tls_base
    la      t0, trap
    csrw    mtvec, t0
    li      t0, 0x2200              # mstatus.FS and .VS: on where the core has them
    csrs    mstatus, t0
    la      t0, __data_start
    la      t1, __data_end
    la      t2, __data_load
1:  bgeu    t0, t1, 2f
    lw      t3, 0(t2)
    sw      t3, 0(t0)
    addi    t0, t0, 4
    addi    t2, t2, 4
    j       1b
2:  la      t0, __bss_start
    la      t1, __bss_end
3:  bgeu    t0, t1, 4f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       3b
4:
#ifdef TW_FENCE
    # locked top-of-range entries: nothing, code rx, constants r, nothing, stack and data rw, nothing
    .macro limit csr, symbol
    la      t0, \symbol
    srli    t0, t0, 2
    csrw    \csr, t0
    .endm
    limit   pmpaddr0, __text_start
    limit   pmpaddr1, __text_end
    limit   pmpaddr2, __rodata_end
    limit   pmpaddr3, __stack_limit
    limit   pmpaddr4, __ram_used_end
    li      t0, -1
    csrw    pmpaddr5, t0
    li      t0, 0x888b
    csrw    pmpcfg1, t0
    li      t0, 0x88898d88
    csrw    pmpcfg0, t0
#endif
    call    main
park:
    wfi
    j       park

    .align 2
trap:
    csrr    a0, mcause
    csrr    a1, mepc
    csrr    a2, mtval
    la      sp, tw_trap_stack_top   # the interrupted stack may be what overran
    call    tw_riscv_trap
5:  j       5b

    .section .bss.tw_trap_stack, "aw", @nobits
    .balign 16
    .space  512
tw_trap_stack_top:
