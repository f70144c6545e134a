# Start-up of a PULP system on chip. The fabric controller starts the nine cores of the cluster and sleeps; core 8 runs
# the program and drives the DMA, cores 0 to 7 compute.
    .option norvc
    .option arch, +zicsr

    .section .init.start, "ax"
    .balign 256
vectors:                                # the core's table of 32 entries
    .rept   32
    j       trap
    .endr

    .globl _start
    .balign 256
_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      sp, __boot_stack_top
    la      t0, vectors
    csrw    mtvec, t0
    li      t1, -1
    li      t0, 0x1A108800              # instruction caches are off at reset: the fabric controller's
    sw      t1, 0(t0)
    li      t0, 0x10201400              # and the cluster's
    sw      t1, 0(t0)
    la      t0, __bss_start
    la      t1, __bss_end
1:  bgeu    t0, t1, 2f
    sw      zero, 0(t0)
    addi    t0, t0, 4
    j       1b
2:  li      t0, 0x10200040              # boot addresses
    la      t1, cluster_start
    li      t2, 9
3:  sw      t1, 0(t0)
    addi    t0, t0, 4
    addi    t2, t2, -1
    bnez    t2, 3b
    li      t0, 0x10200008              # fetch enable
    li      t1, 0x1ff
    sw      t1, 0(t0)
4:  wfi
    j       4b

    .balign 256
cluster_start:
    .option push
    .option norelax
    la      gp, __global_pointer$
    .option pop
    la      tp, __tls_base
    la      t0, vectors
    csrw    mtvec, t0
    li      t0, 0x00204000              # event unit: the barrier's event wakes this core
    li      t1, 0x10000
    sw      t1, 8(t0)
    csrr    a0, mhartid
    andi    a0, a0, 31
    li      t0, 8
    beq     a0, t0, 5f
    la      sp, __core_stacks
    la      t1, __core_stack_size
    addi    t0, a0, 1
    mul     t1, t1, t0
    add     sp, sp, t1
    call    tw_core_main
5:  li      t0, 0x00204200              # barrier 0: all nine arrive, all nine are woken
    li      t1, 0x1ff
    sw      t1, 0(t0)
    sw      t1, 12(t0)
    la      sp, __stack_top
    la      t0, __l1_used_start         # what no copy brought is no zero
    la      t1, __l1_used_end
    li      t2, 0xa5a5a5a5
6:  bgeu    t0, t1, 7f
    sw      t2, 0(t0)
    addi    t0, t0, 4
    j       6b
7:  call    main
8:  wfi
    j       8b

trap:
    csrr    a0, mepc
    la      sp, __boot_stack_top        # the interrupted stack may be what overran
    call    tw_soc_trap
9:  j       9b
