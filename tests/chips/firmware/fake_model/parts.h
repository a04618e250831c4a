/* A model without parts of firmware; see firmware/parts.h. */
#define MODEL_PARTS(hook)
