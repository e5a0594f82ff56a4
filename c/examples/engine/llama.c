/* The loss of a device that trains control vectors of a language model inside llama.cpp.

   The weights stay as they are, in the engine. What is trained is a vector for each of the last
   layers, which llama.cpp adds to the residual stream: it takes them from memory, in no time. The
   loss: after "SENTENCE It was", the cross entropy of " great" and " terrible".

   MODEL is a GGUF file. SENTENCES has lines of a label, 0 or 1, a tab and a sentence: the first
   HELD are nobody's, for the test; of the rest line i belongs to the device i mod DEVICES. */
#include "llama.h"

#include "zofl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELD = 128, TOKENS = 80, SEQUENCES = 16 };

typedef struct {
	llama_token tokens[TOKENS];
	int n;
	int good; /* its label */
} sentence;

static struct {
	struct llama_model *model;
	struct llama_context *context;
	struct llama_batch batch;
	llama_token great, terrible;
	sentence *all, *held, *own;
	int nheld, nown;
	float *vectors; /* of all layers: those before the last ones stay 0 */
	size_t size, width;
} app;

static void quiet(enum ggml_log_level level, const char *text, void *data) {
	(void)data;
	if (level == GGML_LOG_LEVEL_ERROR)
		fputs(text, stderr);
}

static void die(const char *what) {
	fprintf(stderr, "llama: %s\n", what);
	exit(1);
}

static int tokens_of(const char *text, llama_token *out, int room) {
	const struct llama_vocab *v = llama_model_get_vocab(app.model);
	return llama_tokenize(v, text, (int32_t)strlen(text), out, room, false, false);
}

static llama_token word(const char *text) {
	llama_token t;
	if (tokens_of(text, &t, 1) != 1)
		die("the model has no single token for a word of the answer");
	return t;
}

/* Reads a line of SENTENCES. 0: it is too long, and left out. */
static int read_sentence(char *line, sentence *s) {
	char text[2048];
	line[strcspn(line, "\r\n")] = 0;
	if ((line[0] != '0' && line[0] != '1') || line[1] != '\t')
		die("a line of the sentences is not a label, a tab and a sentence");
	s->good = line[0] == '1';
	snprintf(text, sizeof text, "%s It was", line + 2);
	s->n = tokens_of(text, s->tokens, TOKENS);
	return s->n > 0;
}

static void read_sentences(const char *path, int device, int devices) {
	char line[2000];
	int room = 0, i;
	FILE *f = fopen(path, "r");
	if (!f)
		die("the sentences cannot be opened");
	while (fgets(line, sizeof line, f))
		room++;
	rewind(f);
	app.all = calloc((size_t)room, sizeof *app.all);
	if (!app.all)
		die("no memory");
	app.held = app.all;
	for (i = 0; fgets(line, sizeof line, f); i++) {
		if (i >= HELD && i % devices != device)
			continue;
		if (!read_sentence(line, &app.all[app.nheld + app.nown]))
			continue;
		if (i < HELD)
			app.nheld++;
		else
			app.nown++;
	}
	app.own = app.all + app.nheld;
	fclose(f);
	if (app.nown == 0)
		die("no sentence is left for this device");
}

static const char *setting(const char *name) {
	const char *value = getenv(name);
	if (!value)
		die("set DIR, DEVICE and DEVICES");
	return value;
}

static const char *path_of(const char *name) {
	static char path[1024];
	snprintf(path, sizeof path, "%s/%s", setting("DIR"), name);
	return path;
}

static void open_engine(void) {
	struct llama_model_params mp = llama_model_default_params();
	struct llama_context_params cp = llama_context_default_params();
	llama_log_set(quiet, NULL);
	llama_backend_init();
	if (!(app.model = llama_model_load_from_file(path_of("model.gguf"), mp)))
		die("the model cannot be loaded");
	cp.n_ctx = cp.n_batch = SEQUENCES * TOKENS;
	cp.n_seq_max = SEQUENCES;
	cp.n_threads = cp.n_threads_batch = 1;
	cp.kv_unified = true;
	cp.type_k = cp.type_v = GGML_TYPE_F32;
	cp.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
	if (!(app.context = llama_init_from_model(app.model, cp)))
		die("no context");
	app.batch = llama_batch_init(SEQUENCES * TOKENS, 0, 1);
	app.great = word(" great");
	app.terrible = word(" terrible");
	app.width = (size_t)llama_model_n_embd(app.model);
	app.size = app.width * (size_t)(llama_model_n_layer(app.model) - 1);
	if (!(app.vectors = calloc(app.size, sizeof(float))))
		die("no memory");
	read_sentences(path_of("sentences.txt"), atoi(setting("DEVICE")), atoi(setting("DEVICES")));
}

/* The vectors of the last d / width layers are x. */
static void steer(const float *x, size_t d) {
	if (d % app.width != 0 || d > app.size)
		die("the plan's dim is not a number of layers times the model's width");
	memcpy(app.vectors + (app.size - d), x, d * sizeof *x);
	if (llama_set_adapter_cvec(app.context, app.vectors, app.size, (int32_t)app.width, 1,
	                           llama_model_n_layer(app.model) - 1) != 0)
		die("the engine refused the vectors");
}

static void add_sentence(const sentence *s, int sequence, int *last) {
	struct llama_batch *b = &app.batch;
	int i;
	for (i = 0; i < s->n; i++, b->n_tokens++) {
		b->token[b->n_tokens] = s->tokens[i];
		b->pos[b->n_tokens] = i;
		b->n_seq_id[b->n_tokens] = 1;
		b->seq_id[b->n_tokens][0] = sequence;
		b->logits[b->n_tokens] = i == s->n - 1;
	}
	*last = b->n_tokens - 1;
}

/* The sum of the losses of n sentences, and how many the model gets right. */
static double group(const sentence *const *s, int n, int *right) {
	int last[SEQUENCES], i;
	double sum = 0;
	app.batch.n_tokens = 0;
	for (i = 0; i < n; i++)
		add_sentence(s[i], i, &last[i]);
	llama_memory_clear(llama_get_memory(app.context), false);
	if (llama_decode(app.context, app.batch) != 0)
		return NAN;
	for (i = 0; i < n; i++) {
		const float *logits = llama_get_logits_ith(app.context, last[i]);
		double margin = (double)logits[app.great] - (double)logits[app.terrible];
		if (!s[i]->good)
			margin = -margin;
		*right += margin > 0;
		sum += margin < -30 ? -margin : log1p(exp(-margin));
	}
	return sum;
}

/* The mean loss of sentences: `count` of them, drawn by seed, or all where count is 0. */
static double mean_loss(const sentence *from, int n, int count, uint64_t seed, int *right) {
	const sentence *s[SEQUENCES];
	double sum = 0;
	int i, held = 0, total = count ? count : n;
	*right = 0;
	for (i = 0; i < total; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		s[held++] = count ? &from[(seed >> 33) % (uint64_t)n] : &from[i];
		if (held == SEQUENCES || i == total - 1) {
			sum += group(s, held, right);
			held = 0;
		}
	}
	return sum / total;
}

/* Prints loss and accuracy of x on the sentences that are nobody's. */
static void report(const char *when, const float *x, size_t d) {
	int right;
	double loss;
	steer(x, d);
	loss = mean_loss(app.held, app.nheld, 0, 0, &right);
	printf("%s: loss %.3f, accuracy %.3f of %d sentences\n", when, loss, (double)right / app.nheld,
	       app.nheld);
	fflush(stdout);
}

double app_loss(const zofl_task *t, const float *x, const char *id) {
	int right;
	(void)id;
	if (!app.model) {
		open_engine();
		report("the first point", x, t->size);
	}
	steer(x, t->size);
	if (t->held_out)
		return mean_loss(app.held, app.nheld, 0, 0, &right);
	return mean_loss(app.own, app.nown, t->batch ? (int)t->batch : SEQUENCES, t->seed, &right);
}

void app_end(const float *x, size_t d) {
	if (app.model)
		report("the model", x, d);
}
