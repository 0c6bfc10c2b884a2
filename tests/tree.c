/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <config.h>

#include <errno.h>
#include <error.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tree.h"

static char *join(const char *root, const char *path)
{
	char *name;

	if (asprintf(&name, "%s%s", root, path) < 0)
		error(1, errno, "asprintf");
	return name;
}

char *tree_open(void)
{
	const char *tmp = getenv("TMPDIR");
	char *root = join(tmp ? tmp : "/tmp", "/tlbtune-tree-XXXXXX");

	if (!mkdtemp(root))
		error(1, errno, "%s", root);
	return root;
}

/* Make the directories above the file name. */
static void make_parents(char *name)
{
	char *slash;

	for (slash = strchr(name + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(name, 0755) && errno != EEXIST)
			error(1, errno, "%s", name);
		*slash = '/';
	}
}

void tree_put(const char *root, const char *path, const char *text, size_t len)
{
	char *name = join(root, path);
	FILE *file;

	make_parents(name);
	/* A new file: ext4 writes one that is cut and filled to the disk. */
	unlink(name);
	file = fopen(name, "w");
	if (!file || fwrite(text, 1, len, file) != len || fclose(file))
		error(1, errno, "%s", name);
	free(name);
}

void tree_write(const char *root, const char *path, const char *text)
{
	char *name;

	if (strncmp(text, "-> ", 3) != 0) {
		tree_put(root, path, text, strlen(text));
		return;
	}
	name = join(root, path);
	make_parents(name);
	if (symlink(text + 3, name))
		error(1, errno, "%s", name);
	free(name);
}

void tree_remove(const char *root, const char *path)
{
	char *name = join(root, path);

	if (unlink(name))
		error(1, errno, "%s", name);
	free(name);
}

void tree_fill(const char *root, const struct tree_machine *machine)
{
	const struct tree_file *file;

	for (file = machine->files; file->path; file++)
		tree_write(root, file->path, file->text);
}

static int remove_one(const char *name, const struct stat *status, int type,
		      struct FTW *walk)
{
	(void)status;
	(void)type;
	(void)walk;
	return remove(name);
}

void tree_close(char *root)
{
	if (nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS))
		error(1, errno, "%s", root);
	free(root);
}

static int read_leaf(void *context, uint32_t leaf, uint32_t subleaf,
		     uint32_t reg[4])
{
	const struct tree_machine *machine = context;
	size_t i;

	memset(reg, 0, 4 * sizeof(*reg));
	for (i = 0; i < machine->n_leaves && !subleaf; i++)
		if (machine->leaves[i].leaf == leaf)
			memcpy(reg, machine->leaves[i].reg, 4 * sizeof(*reg));
	return machine->n_leaves ? 0 : -1;
}

struct identity_source tree_cpuid(const struct tree_machine *machine)
{
	return (struct identity_source){ read_leaf, (void *)machine };
}
