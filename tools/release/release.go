package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/internal/outfile"
)

// options are the flags.
type options struct {
	root, out      string
	snapshot, host bool
}

// target is a system to build for.
type target struct{ system, arch string }

// targets are those of a release.
var targets = []target{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// made is a file of the release.
type made struct {
	name    string
	content []byte
}

// release makes all files, then writes them.
func release(ctx context.Context, o options) error {
	if list, err := os.ReadDir(o.out); err == nil && len(list) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not empty: name another folder, or empty it", o.out)
	}
	v, err := versionOf(ctx, o)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work) //nolint:errcheck // it is a folder for temporary files
	native := target{runtime.GOOS, runtime.GOARCH}
	host, err := build(ctx, o, v, native, work)
	if err != nil {
		return err
	}
	if err := v.same(ctx, host); err != nil {
		return err
	}
	docs, err := documents(ctx, o.root, host, work)
	if err != nil {
		return err
	}
	list := targets
	if o.host {
		list = []target{native}
	}
	var files []made
	for _, t := range list {
		p := host
		if t != native {
			if p, err = build(ctx, o, v, t, work); err != nil {
				return err
			}
		}
		more, err := filesOf(p, v, docs)
		if err != nil {
			return err
		}
		files = append(files, more...)
	}
	return write(o.out, append(files, checksums(files)))
}

// filesOf are the files of the release for one system.
func filesOf(p *program, v *version, docs []document) ([]made, error) {
	archive, err := archived(p, v, docs)
	if err != nil {
		return nil, err
	}
	bill, err := billOfMaterials(p, v)
	if err != nil {
		return nil, err
	}
	files := []made{archive, bill}
	if p.system != "linux" {
		return files, nil
	}
	for _, format := range []string{"deb", "rpm"} {
		f, err := packaged(format, p, v, docs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", format, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// checksumFile is as sha256sum writes it.
const checksumFile = "SHA256SUMS"

func checksums(files []made) made {
	lines := make([]string, 0, len(files))
	for _, f := range files {
		lines = append(lines, fmt.Sprintf("%x  %s\n", sha256.Sum256(f.content), f.name))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return made{checksumFile, []byte(strings.Join(lines, ""))}
}

func write(folder string, files []made) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if err := outfile.Write(filepath.Join(folder, f.name), f.content, nil); err != nil {
			return err
		}
		fmt.Printf("%10d %s\n", len(f.content), f.name)
	}
	return nil
}
