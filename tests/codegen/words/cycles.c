/*
 * A plugin of QEMU that counts the cycles of a function, from its first instruction to its return, as
 * the tables of the processor's manual give them for memory without wait states: of a Cortex-M0+ in
 * ARM DDI 0484C (table 3-1, with the fast multiplier), or of a Cortex-M4 in DDI 0439 (table 3-1, where
 * a taken branch refills the pipeline in 2 cycles, a load behind a load takes 1, a division 12, a product
 * of floats with a sum 3, and their division 14).
 *
 * Arguments: function=ADDRESS, core=m0 or core=m4. At the end, it prints the calls, and the least, the
 * most and all cycles.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From qemu-plugin.h, which Debian does not package: the part of the interface that is used. */
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef void (*on_block)(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
typedef void (*on_instruction)(unsigned int cpu, void *instruction);
typedef void (*at_exit)(qemu_plugin_id_t id, void *nothing);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, on_block called);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction,
                                            on_instruction called, int flags, void *argument);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, at_exit called, void *argument);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);

#define EXPORTED __attribute__((visibility("default")))
EXPORTED int qemu_plugin_version = 1;
EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv);

enum kind { OTHER, LOAD, STORE };
struct instruction {
    uint32_t address, next;
    unsigned int cycles; /* if it does not branch */
    unsigned int taken;  /* more, if it does */
    enum kind kind;      /* of a single load or store */
};

static uint32_t function;
static int m4;
static const struct instruction *previous;
static uint32_t returns_to; /* 0 outside of the function */
static uint64_t cycles, total, least = UINT64_MAX, most, calls;

static unsigned int registers(uint32_t bits) { return (unsigned int)__builtin_popcount(bits); }

static void single(struct instruction *made, int loads)
{
    made->cycles = loads || !m4 ? 2 : 1;
    made->kind = loads ? LOAD : STORE;
}

static void classify_short(struct instruction *made, uint32_t code)
{
    const uint32_t top = code >> 12;
    if (code >> 9 == 0x5A) { /* PUSH */
        made->cycles = 1 + registers(code & 0x1FF);
    } else if (code >> 9 == 0x5E) { /* POP, perhaps with PC */
        made->cycles = 1 + registers(code & 0x1FF);
        made->taken = 2;
    } else if (top == 0xC) { /* LDM, STM */
        made->cycles = 1 + registers(code & 0xFF);
    } else if (top == 5) { /* with an index in a register */
        single(made, ((code >> 9) & 7) >= 3);
    } else if (top == 6 || top == 7 || top == 8 || top == 9) {
        single(made, (code >> 11) & 1);
    } else if (code >> 11 == 9) { /* of a constant beside the code */
        single(made, 1);
    }
}

static void classify_float(struct instruction *made, uint32_t first, uint32_t second)
{
    if ((first & 0xFF20) == 0xED00) { /* VLDR, VSTR */
        single(made, (first >> 4) & 1);
    } else if ((first & 0xFFE0) == 0xEC40) { /* VMOV of two */
        made->cycles = 2;
    } else if ((first & 0xFE00) == 0xEC00) { /* VLDM, VSTM, VPUSH, VPOP */
        made->cycles = 1 + (second & 0xFF);
    } else if ((first & 0xFF00) == 0xEE00 && !(second & 0x10)) {
        const uint32_t operation = first & 0xB0;
        const int root = operation == 0xB0 && (first & 0xF) == 1 && (second & 0xC0) == 0xC0;
        if (operation == 0x80 || root) { /* VDIV, VSQRT */
            made->cycles = 14;
        } else if (operation <= 0x10 || operation == 0x90 || operation == 0xA0) { /* and a sum */
            made->cycles = 3;
        }
    }
}

static void classify_long(struct instruction *made, uint32_t first, uint32_t second)
{
    if ((first & 0xF800) == 0xF000 && (second & 0xD000) == 0xD000) { /* BL */
        made->cycles = m4 ? 1 : 2;
    } else if ((first & 0xFE40) == 0xE800) { /* LDM, STM */
        made->cycles = 1 + registers(second);
    } else if ((first & 0xFFF0) == 0xE8D0 && (second & 0xFFE0) == 0xF000) { /* TBB, TBH */
        made->cycles = 2;
    } else if ((first & 0xFE40) == 0xE840) { /* LDRD, STRD */
        made->cycles = 3;
    } else if ((first & 0xFE00) == 0xF800) {
        single(made, (first >> 4) & 1);
    } else if ((first & 0xFFD0) == 0xFB90) { /* SDIV, UDIV */
        made->cycles = 12;
    } else if ((first & 0xFC00) == 0xEC00 && (second & 0x0E00) == 0x0A00) {
        classify_float(made, first, second);
    }
}

static void executed(unsigned int cpu, void *argument)
{
    const struct instruction *const now = argument;
    (void)cpu;
    if (returns_to != 0 && previous != NULL && now->address != previous->next) {
        cycles += previous->taken;
    }
    if (returns_to != 0 && now->address == returns_to) {
        returns_to = 0;
        ++calls;
        total += cycles;
        least = cycles < least ? cycles : least;
        most = cycles > most ? cycles : most;
    }
    if (returns_to == 0 && now->address == function && previous != NULL) {
        returns_to = previous->next;
        cycles = 0;
    }
    if (returns_to != 0) {
        const int behind = m4 && now->kind == LOAD && previous->kind == LOAD;
        cycles += now->cycles - (behind ? 1 : 0);
    }
    previous = now;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    (void)id;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
        struct qemu_plugin_insn *const found = qemu_plugin_tb_get_insn(block, i);
        struct instruction *const made = calloc(1, sizeof *made);
        const size_t size = qemu_plugin_insn_size(found);
        uint16_t code[2] = {0, 0};
        memcpy(code, qemu_plugin_insn_data(found), size <= sizeof code ? size : sizeof code);
        made->address = (uint32_t)qemu_plugin_insn_vaddr(found);
        made->next = made->address + (uint32_t)size;
        made->cycles = 1;
        made->taken = m4 ? 2 : 1;
        if (size == 2) {
            classify_short(made, code[0]);
        } else {
            classify_long(made, code[0], code[1]);
        }
        qemu_plugin_register_vcpu_insn_exec_cb(found, executed, 0, made);
    }
}

static void finished(qemu_plugin_id_t id, void *nothing)
{
    (void)id;
    (void)nothing;
    fprintf(stderr, "calls %" PRIu64 " least %" PRIu64 " most %" PRIu64 " total %" PRIu64 "\n",
            calls, least, most, total);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
    (void)info;
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "function=", 9) == 0) {
            function = (uint32_t)strtoul(argv[i] + 9, NULL, 0) & ~1u;
        }
        m4 |= strcmp(argv[i], "core=m4") == 0;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, NULL);
    return 0;
}
