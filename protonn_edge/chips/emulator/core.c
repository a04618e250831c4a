/*
 * The chip: libsimavr's core, run one instruction at a time, and corrections of its faults.
 *
 * simavr 1.6 skips two words instead of one over some ADIW and SBIW, takes no cycles for an
 * interrupt, sleeps without SE, only logs an illegal opcode or an access outside memory, misses a
 * timer's compare match right after an overflow, takes no cycles to read the EEPROM, and reads past the end of the flash on an ELPM
 * without RAMPZ and on an interrupt after a jump outside the flash.
 */
#include "uno.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simavr/avr_eeprom.h>
#include <simavr/avr_uart.h>
#include <simavr/sim_core.h>

enum {
    EEPROM_READ_CYCLES = 4,  /* cycles for which the CPU stops (8.4) */
    INTERRUPT_CYCLES = 4,    /* from the request to the vector (data sheet 8271, 7.7.1) */
    FLASH_PAGE_BYTES = 256,  /* at most */
    ADDRESS_SPACE = 0x10000, /* bytes that a 16-bit pointer can reach */
    FAR_SPACE = 0x1000000,   /* bytes that it can reach with RAMPZ */
};

avr_t *avr;
struct chip chip;

static struct core_options options;

static struct {
    avr_cycle_count_t slice_end;
    avr_cycle_count_t slept;           /* since the slice began */
    avr_cycle_count_t stack_settles;   /* after a write to SPH: SPL is written before this cycle */
    avr_flashaddr_t previous_pc;       /* the instruction to blame for a low stack or a bad jump */
    uint16_t lowest_stack, peak_stack; /* lowest SP since the reset, and overall */
    bool reflashed;                    /* the image's symbols and .bss may no longer apply */
} cpu;

/* ---- faults: the program did something invalid; the core stops until a reset ---- */

enum { FAULTS_MAX = 16 };

static struct {
    int count;
    struct {
        char what[96];
        avr_flashaddr_t pc;
    } fault[FAULTS_MAX]; /* the first ones */
} faults;

static void stop_at(avr_flashaddr_t pc, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void stop_at(avr_flashaddr_t pc, const char *format, ...)
{
    if (avr->state == cpu_Crashed) { /* one fault per instruction */
        return;
    }
    avr->state = cpu_Crashed;
    if (faults.count == FAULTS_MAX) {
        return;
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(faults.fault[faults.count].what, sizeof faults.fault[0].what, format, arguments);
    va_end(arguments);
    faults.fault[faults.count++].pc = pc;
}

/* simavr only logs these, with pc, SP and opcode as the first arguments. */
static void on_simavr_log(avr_t *core, const int level, const char *format, va_list arguments)
{
    if (!core || level != LOG_ERROR) {
        return;
    }
    const bool opcode = strstr(format, "Invalid Opcode");
    const bool write = strstr(format, "Invalid write address");
    if (!opcode && !write && !strstr(format, "Invalid read address")) {
        return;
    }
    const avr_flashaddr_t pc = va_arg(arguments, unsigned);
    (void)va_arg(arguments, unsigned);
    const unsigned word = va_arg(arguments, unsigned);
    if (opcode) {
        stop_at(pc, "illegal opcode 0x%04x", word);
    } else {
        stop_at(pc, "%s address 0x%04x, past the end of the SRAM at 0x%04x",
                write ? "writes to" : "reads", va_arg(arguments, unsigned), chip.ramend);
    }
}

/* ---- flash: instructions that need more than simavr does ---- */

enum special {
    ORDINARY,
    SKIPS_WORD, /* a skip over an ADIW or SBIW, which simavr treats as two words */
    WRITES_SPH,
    WRITES_SPL,
    WRITES_FLASH,
    READS_EEPROM,
    NEEDS_RAMPZ, /* an ELPM: on a chip without RAMPZ simavr uses r0 instead, and reads up to 16 MB */
    ERASED,
};

static uint8_t *special_at; /* one per word of flash */

static uint16_t flash_word(avr_flashaddr_t address)
{
    return avr->flash[address] | avr->flash[address + 1] << 8;
}

static bool is_skip(uint16_t opcode)
{
    return (opcode & 0xFC00) == 0x1000 || /* CPSE */
           (opcode & 0xFD00) == 0x9900 || /* SBIC, SBIS */
           (opcode & 0xFC08) == 0xFC00;   /* SBRC, SBRS */
}

/* simavr's mask for JMP and CALL lacks a bit: an ADIW or SBIW by 12..15, 28..31, ... matches it. */
static bool is_taken_for_two_words(uint16_t opcode) { return (opcode & 0xFE0C) == 0x960C; }

static bool is_elpm(uint16_t opcode)
{
    return opcode == 0x95D8 || (opcode & 0xFE0E) == 0x9006; /* of r0; of Rd, with Z or Z+ */
}

static uint8_t special_of(uint16_t opcode)
{
    if (opcode == 0xFFFF) {
        return ERASED;
    }
    if (is_elpm(opcode) && !avr->rampz) {
        return NEEDS_RAMPZ;
    }
    if (opcode == 0x95E8) { /* SPM */
        return WRITES_FLASH;
    }
    if (opcode == 0x9AF8) { /* SBI EECR, EERE */
        return READS_EEPROM;
    }
    switch (opcode & 0xFE0F) {
    case 0xBE0E: /* OUT SPH, Rr */
        return WRITES_SPH;
    case 0xBE0D: /* OUT SPL, Rr */
        return WRITES_SPL;
    default:
        return ORDINARY;
    }
}

static void find_special_instructions(void)
{
    for (avr_flashaddr_t address = 0; address < chip.flash_bytes; address += 2) {
        const uint16_t opcode = flash_word(address);
        const bool skips = is_skip(opcode) && is_taken_for_two_words(flash_word(address + 2));
        special_at[address / 2] = skips && !options.no_skip_fix ? SKIPS_WORD : special_of(opcode);
    }
}

/* ---- marked spans: from a non-zero value in GPIOR0 to 0 ---- */

/*
 * The hook runs before the cycles of its own instruction are counted. So a span begins at the start
 * of the OUT that opens it and ends at the start of the OUT that closes it: it includes the cycle of
 * the first and not that of the second. Two OUTs in a row make a span of 1 cycle.
 */
static struct {
    bool open;
    avr_cycle_count_t since;
    uint64_t cycles, count;
} spans;

static void write_gpior0(avr_t *core, avr_io_addr_t address, uint8_t value, void *parameter)
{
    avr->data[address] = value;
    if (value && !spans.open) {
        spans.open = true;
        passes_begin_span(cpu.previous_pc);
        spans.since = avr->cycle;
    } else if (!value && spans.open) {
        spans.open = false;
        passes_end_span();
        spans.cycles += avr->cycle - spans.since;
        spans.count++;
    }
}

/* ---- instructions ---- */

static void stop_outside(void)
{
    stop_at(cpu.previous_pc, "jumps to 0x%04x, outside of the flash", avr->pc);
}

static bool is_program(avr_flashaddr_t pc)
{
    if (pc >= chip.flash_bytes) {
        stop_outside();
        return false;
    }
    if (special_at[pc / 2] == ERASED) {
        if (pc == 0 && options.reset_pc != 0) { /* the bootloader has no program to start */
            avr->state = cpu_Stopped;
        } else {
            stop_at(cpu.previous_pc, "runs into the erased flash at 0x%04x", pc);
        }
        return false;
    }
    return true;
}

/* Executes the instruction at pc, which is of the kind `special`; returns the next pc. */
static avr_flashaddr_t run_special(uint8_t special)
{
    const avr_flashaddr_t pc = avr->pc;
    if (special == NEEDS_RAMPZ) {
        stop_at(pc, "illegal opcode 0x%04x", flash_word(pc));
        return pc;
    }
    const avr_cycle_count_t began = avr->cycle;
    const uint8_t spm_command = avr->data[SPMCSR];
    const avr_flashaddr_t next = avr_run_one(avr);
    if (special == SKIPS_WORD && next == pc + 6) {
        avr->cycle = began + 2;
        return pc + 4;
    }
    if (special == WRITES_SPH) { /* avr-gcc writes SPH, SREG, SPL: SP is invalid in between */
        cpu.stack_settles = began + 4;
    } else if (special == WRITES_SPL) {
        cpu.stack_settles = 0;
    } else if (special == READS_EEPROM) {
        avr->cycle += EEPROM_READ_CYCLES;
    } else if (special == WRITES_FLASH && spm_command & (PGERS | PGWRT)) {
        cpu.reflashed = true;
        options.stack_floor = chip.sram_start;
        find_special_instructions();
    }
    return next;
}

static void note_lower_stack(uint16_t sp)
{
    cpu.lowest_stack = sp;
    if (sp < cpu.peak_stack) {
        cpu.peak_stack = sp;
    }
    if (sp + 1u < options.stack_floor) { /* SP points to the free byte below the last pushed one */
        stop_at(cpu.previous_pc, "stack pointer 0x%04x is below the end of .bss at 0x%04x", sp,
                options.stack_floor);
    }
}

static void run_instruction(void)
{
    if (!is_program(avr->pc)) {
        return;
    }
    cpu.previous_pc = avr->pc;
    if (spans.open) {
        passes_at(avr->pc);
    }
    const uint8_t special = special_at[avr->pc / 2];
    avr->pc = special == ORDINARY ? avr_run_one(avr) : run_special(special);

    const uint16_t sp = avr->data[R_SPL] | avr->data[R_SPH] << 8;
    if (sp < cpu.lowest_stack && avr->cycle >= cpu.stack_settles) {
        note_lower_stack(sp);
    }
    if (avr->state == cpu_Sleeping) {
        if (!(avr->data[chip.sleep_register] >> chip.sleep_bit & 1)) {
            avr->state = cpu_Running;
        } else if (!avr->sreg[S_I]) {
            stop_at(cpu.previous_pc, "sleeps with interrupts disabled");
        }
    }
}

/*
 * Runs the timers that are due and returns the cycles until the next one. An instruction may end up
 * to 5 cycles after an overflow; simavr would compute compare matches from then on and miss those in
 * between for a whole period. So each timer runs with the cycle at which it was due.
 */
static avr_cycle_count_t run_due_timers(void)
{
    const avr_cycle_count_t now = avr->cycle;
    const avr_cycle_timer_slot_t *timer;
    while ((timer = avr->cycle_timers.timer) != NULL && timer->when < now) {
        avr->cycle = timer->when;
        avr_cycle_timer_process(avr);
    }
    avr->cycle = now;
    return avr_cycle_timer_process(avr);
}

static void run_timers(void)
{
    const avr_cycle_count_t until_next = run_due_timers();
    if (avr->state == cpu_Sleeping && !usart_requests()) {
        const avr_cycle_count_t until_end = cpu.slice_end - avr->cycle;
        const avr_cycle_count_t pause = until_next < until_end ? until_next : until_end;
        avr->cycle += pause;
        cpu.slept += pause;
    }
}

/* An interrupt pushes pc; simavr logs the instruction there if it cannot. */
static void service_interrupts(void)
{
    if (avr->pc >= chip.flash_bytes) {
        stop_outside();
    } else {
        avr_service_interrupts(avr);
    }
}

/* One instruction, due timers and interrupts. */
static void run_once(avr_t *core)
{
    if (avr->state == cpu_Running) {
        run_instruction();
    }
    const avr_cycle_timer_slot_t *timer = avr->cycle_timers.timer;
    if (avr->state == cpu_Sleeping || (timer && timer->when <= avr->cycle)) {
        run_timers();
    }
    if (usart_requests() && avr->sreg[S_I] && avr->interrupt_state == 0) {
        usart_raise_interrupt();
    }
    if (avr->interrupt_state && core_is_alive()) {
        service_interrupts();
    }
}

/* ---- resets ---- */

/* The causes of resets accumulate until the program clears them (11.9.1); simavr starts from 0. */
static void reset_by_watchdog(void)
{
    const uint8_t causes = avr->data[MCUSR];
    avr->run(avr); /* simavr's watchdog replaces avr->run by a reset, which restores it */
    avr->data[MCUSR] |= causes;
}

void core_reset(void)
{
    if (avr->run != run_once) { /* otherwise, this reset would count as the watchdog's */
        reset_by_watchdog();
    }
    const uint8_t causes = avr->data[MCUSR];
    avr_reset(avr);
    avr->data[MCUSR] = causes | EXTRF;
}

/* ---- slices ---- */

bool core_run_slice(void)
{
    if (!core_is_alive()) {
        return false;
    }
    cpu.slept = 0;
    cpu.slice_end += chip.clock_hz / 1000;
    while (avr->cycle < cpu.slice_end && core_is_alive()) {
        if (avr->run == run_once) {
            run_once(avr);
        } else { /* the watchdog has replaced it */
            reset_by_watchdog();
        }
    }
    return cpu.slept > chip.clock_hz / 2000;
}

bool core_is_alive(void) { return avr->state == cpu_Running || avr->state == cpu_Sleeping; }

bool core_boots(void) { return options.reset_pc != 0 && avr->pc >= options.reset_pc; }

/* ---- the chip ---- */

static void on_interrupt(avr_irq_t *irq, uint32_t entered, void *parameter)
{
    if (entered) {
        avr->cycle += chip.interrupt_cycles;
    }
}

/* simavr calls this on every reset, including those of its watchdog. */
static void on_reset(avr_t *core)
{
    cpu.lowest_stack = chip.ramend;
    cpu.stack_settles = 0;
    cpu.previous_pc = options.reset_pc;
    spans.open = false;
}

/* Allocates memory for every possible address: simavr reports an access outside memory and then
 * makes it. Pages far beyond the flash are never touched, so they take no memory. */
static bool make_memories(const uint8_t *image, size_t image_bytes)
{
    const size_t space = avr->rampz ? FAR_SPACE : ADDRESS_SPACE;
    const size_t erased = chip.flash_bytes > ADDRESS_SPACE ? chip.flash_bytes : ADDRESS_SPACE;
    avr->data = realloc(avr->data, ADDRESS_SPACE);
    avr->flash = realloc(avr->flash, space + FLASH_PAGE_BYTES);
    special_at = malloc(chip.flash_bytes / 2);
    if (!avr->data || !avr->flash || !special_at) {
        return false;
    }
    memset(avr->flash, 0xFF, erased + FLASH_PAGE_BYTES);
    memcpy(avr->flash, image, image_bytes);
    find_special_instructions();
    return true;
}

/* Returns the link to a peripheral of simavr's in its list; NULL if the chip has none. */
static avr_io_t **find_io(const char *kind, char name)
{
    for (avr_io_t **link = &avr->io_port; *link; link = &(*link)->next) {
        if (strcmp((*link)->kind, kind) == 0 && (!name || ((avr_uart_t *)*link)->name == name)) {
            return link;
        }
    }
    return NULL;
}

avr_io_t *core_replace(const char *kind, char name, avr_io_t *io)
{
    avr_io_t **link = find_io(kind, name);
    if (!link) {
        return NULL;
    }
    avr_io_t *replaced = *link;
    io->avr = avr;
    io->next = replaced->next;
    *link = io;
    return replaced;
}

void core_register(uint16_t address, avr_io_read_t read, avr_io_write_t write)
{
    avr->io[AVR_DATA_TO_IO(address)].r.c = read;
    avr->io[AVR_DATA_TO_IO(address)].w.c = write;
}

/* Removes simavr's USB, to which nothing is connected here and which ends the whole process if a
 * program selects an endpoint that does not exist. Its registers become memory. */
static void remove_usb(void)
{
    avr_io_t **link = find_io("usb", 0);
    if (!link) {
        return;
    }
    for (int place = 0; place < MAX_IOs; place++) {
        if (avr->io[place].r.param == *link) {
            avr->io[place].r.c = NULL;
        }
        if (avr->io[place].w.param == *link) {
            avr->io[place].w.c = NULL;
        }
    }
    *link = (*link)->next;
}

/* Fills an empty file with erased bytes; returns whether the file is as large as the EEPROM. */
static bool has_size(int file, size_t size)
{
    struct stat about;
    uint8_t erased[size];
    memset(erased, 0xFF, size);
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return false;
    }
    return about.st_size == 0 ? pwrite(file, erased, size, 0) == (ssize_t)size
                              : (size_t)about.st_size == size;
}

const char *core_keep_eeprom(const char *path)
{
    static char reason[64];
    avr_eeprom_t *eeprom = (avr_eeprom_t *)*find_io("eeprom", 0);
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
    if (file < 0) {
        return strerror(errno);
    }
    if (!has_size(file, eeprom->size)) {
        snprintf(reason, sizeof reason, "it is not a file of %u bytes", eeprom->size);
        return reason;
    }
    void *bytes = mmap(NULL, eeprom->size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (bytes == MAP_FAILED) {
        return strerror(errno);
    }
    eeprom->eeprom = bytes; /* simavr writes there, so the contents survive a killed process */
    return NULL;
}

bool core_find(void)
{
    avr_global_logger_set(on_simavr_log);
    avr = avr_make_mcu_by_name(chip.mcu);
    if (!avr || avr_init(avr) != 0) {
        return false;
    }
    remove_usb();
    chip.flash_bytes = avr->flashend + 1;
    chip.sram_start = avr->ioend + 1;
    chip.ramend = avr->ramend;
    chip.interrupt_cycles = INTERRUPT_CYCLES + (avr->address_size == 3);
    cpu.peak_stack = chip.ramend;
    avr->frequency = chip.clock_hz;
    return true;
}

bool core_make(const struct core_options *chosen, const uint8_t *image, size_t image_bytes)
{
    options = *chosen;
    if (options.stack_floor < chip.sram_start) {
        options.stack_floor = chip.sram_start;
    }
    if (image_bytes > chip.flash_bytes || !make_memories(image, image_bytes)) {
        return false;
    }
    options.reset_pc &= ~1u;
    avr->reset_pc = options.reset_pc;
    avr->reset = on_reset;
    avr->run = run_once;
    avr_register_io_write(avr, chip.gpior0, write_gpior0, NULL);
    for (int i = 0; i < avr->interrupts.vector_count; i++) {
        avr_irq_t *running = avr->interrupts.vector[i]->irq + AVR_INT_IRQ_RUNNING;
        avr_irq_register_notify(running, on_interrupt, NULL);
    }
    avr_reset(avr);
    avr->data[MCUSR] = PORF;
    return true;
}

void core_print_stats(FILE *stream)
{
    const char *state = avr->state == cpu_Running    ? "running"
                        : avr->state == cpu_Sleeping ? "sleeping"
                        : avr->state == cpu_Stopped  ? "empty"
                                                     : "crashed";
    fprintf(stream, "{");
    passes_print(stream);
    fprintf(stream,
            "\"cycles\": %llu, \"marked_cycles\": %llu, \"marked_spans\": %llu, "
            "\"stack_bytes\": %u, \"overruns\": %llu, \"reflashed\": %s, \"state\": \"%s\", "
            "\"faults\": [",
            (unsigned long long)avr->cycle, (unsigned long long)spans.cycles,
            (unsigned long long)spans.count, chip.ramend - cpu.peak_stack,
            (unsigned long long)line.overruns(), cpu.reflashed ? "true" : "false", state);
    for (int i = 0; i < faults.count; i++) {
        fprintf(stream, "%s{\"what\": \"%s\", \"pc\": %u}", i ? ", " : "", faults.fault[i].what,
                (unsigned)faults.fault[i].pc);
    }
    fprintf(stream, "]}\n");
    fflush(stream);
}
