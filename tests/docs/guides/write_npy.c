/* SPDX-License-Identifier: BSL-1.0
   What docs/guides/c_kernel.md shows: a kernel of attention in C99, and its tensors written as .npy files.
   write_npy FOLDER writes q, k, v and out into the folder, which must be there; write_npy FOLDER bf16 the same in bf16, write_npy FOLDER wrong what a mistake gives. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// [write]
/* Writes an array of `rank` dimensions, the last one fastest, as FOLDER/NAME.npy. descr: "<f4" float, "<f8" double, "<f2" half, "<u2" bf16. */
static void write_npy(const char* folder, const char* name, const char* descr, const void* data, size_t bytes_each, int rank, const size_t* shape) {
    char path[512], header[246];
    size_t elements = 1;
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    int used = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < rank; ++i) {
        used += snprintf(header + used, sizeof header - (size_t)used, "%zu,", shape[i]);
        elements *= shape[i];
    }
    used += snprintf(header + used, sizeof header - (size_t)used, "), }");
    memset(header + used, ' ', sizeof header - (size_t)used);
    header[sizeof header - 1] = '\n';
    FILE* file = fopen(path, "wb");
    if (file == NULL || fwrite("\x93NUMPY\x01\x00\xf6\x00", 1, 10, file) != 10 || fwrite(header, 1, sizeof header, file) != sizeof header ||
        fwrite(data, bytes_each, elements, file) != elements || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}
// [/write]

// [kernel]
enum { heads = 2, n = 6, d = 8 };

/* out = softmax(q kT / sqrt(d)) v for each head; query i sees keys 0 to i. */
static void attention(const float* q, const float* k, const float* v, float* out) {
    const float scale = 1 / sqrtf(d);
    for (int h = 0; h < heads; ++h, q += n * d, k += n * d, v += n * d, out += n * d)
        for (int i = 0; i < n; ++i) {
            float weights[n], greatest = -INFINITY, sum = 0;
            for (int j = 0; j <= i; ++j) {
                float score = 0;
                for (int c = 0; c < d; ++c) score += q[i * d + c] * k[j * d + c];
                weights[j] = score * scale;
                greatest = fmaxf(greatest, weights[j]);
            }
            for (int j = 0; j <= i; ++j) sum += weights[j] = expf(weights[j] - greatest);
            for (int c = 0; c < d; ++c) {
                float value = 0;
                for (int j = 0; j <= i; ++j) value += weights[j] * v[j * d + c];
                out[i * d + c] = value / sum;
            }
        }
}
// [/kernel]

// [bf16]
/* To bf16, to nearest, ties to even; not for NaN. */
static uint16_t to_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static float from_bf16(uint16_t x) {
    const uint32_t bits = (uint32_t)x << 16;
    float result;
    memcpy(&result, &bits, 4);
    return result;
}
// [/bf16]

/* The same numbers everywhere: multiples of 1/4096 in [-2, 2). */
static float next(void) {
    static uint32_t state = 7;
    state = state * 1664525u + 1013904223u;
    return (float)(int)(state >> 18) / 4096 - 2;
}

static float q[heads * n * d], k[heads * n * d], v[heads * n * d], out[heads * n * d];

static void save_bf16(const char* folder, const char* name, const float* x) {
    static uint16_t stored[heads * n * d];
    const size_t shape[] = {heads, n, d};
    for (int i = 0; i < heads * n * d; ++i) stored[i] = to_bf16(x[i]);
    write_npy(folder, name, "<u2", stored, sizeof *stored, 3, shape);
}

int main(int count, char** arguments) {
    if (count < 2) return 2;
    const char* folder = arguments[1];
    const int bf16 = count > 2 && strcmp(arguments[2], "bf16") == 0, wrong = count > 2 && strcmp(arguments[2], "wrong") == 0;
    for (int i = 0; i < heads * n * d; ++i) {
        q[i] = next(), k[i] = next(), v[i] = next();
        if (bf16) q[i] = from_bf16(to_bf16(q[i])), k[i] = from_bf16(to_bf16(k[i])), v[i] = from_bf16(to_bf16(v[i]));
    }
    static float read_v[heads * n * d];
    memcpy(read_v, v, sizeof v);
    if (wrong) memcpy(read_v + n * d, v, n * d * sizeof *v); /* the mistake: the second head reads the values of the first */
    attention(q, k, read_v, out);
    if (bf16) {
        save_bf16(folder, "q", q), save_bf16(folder, "k", k), save_bf16(folder, "v", v), save_bf16(folder, "out", out);
        return 0;
    }
    // [save]
    const size_t shape[] = {heads, n, d};
    write_npy(folder, "q", "<f4", q, sizeof *q, 3, shape);
    write_npy(folder, "k", "<f4", k, sizeof *k, 3, shape);
    write_npy(folder, "v", "<f4", v, sizeof *v, 3, shape);
    write_npy(folder, "out", "<f4", out, sizeof *out, 3, shape);
    // [/save]
    return 0;
}
