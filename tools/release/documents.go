package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// document is a file besides the program.
type document struct {
	// name is where it stands in archives, and what finds its place in packages.
	name    string
	content []byte
}

// completions are the shells and the names of their files.
var completions = []struct{ shell, name string }{
	{"bash", "iwdissect.bash"}, {"zsh", "_iwdissect"}, {"fish", "iwdissect.fish"}, {"powershell", "iwdissect.ps1"},
}

// documents are the texts of the project, and what the program writes of itself.
func documents(ctx context.Context, root string, p *program, work string) (docs []document, err error) {
	add := func(name, file string) {
		var content []byte
		if content, err = os.ReadFile(file); err == nil {
			docs = append(docs, document{name, content})
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "THIRD_PARTY_NOTICES.md"} {
		if add(name, filepath.Join(root, name)); err != nil {
			return nil, err
		}
	}
	const profile = "wireshark/iwdissect"
	for _, name := range []string{"colorfilters", "dfilter_buttons", "preferences"} {
		if add(path.Join(profile, name), filepath.Join(root, "examples", profile, name)); err != nil {
			return nil, err
		}
	}
	pages := filepath.Join(work, "man")
	if err := os.Mkdir(pages, 0o700); err != nil {
		return nil, err
	}
	if out, err := exec.CommandContext(ctx, p.path, "man", "-o", pages).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("iwdissect man: %w: %s", err, out)
	}
	list, err := os.ReadDir(pages) // sorted by name
	if err != nil {
		return nil, err
	}
	for _, page := range list {
		if add("man/"+page.Name(), filepath.Join(pages, page.Name())); err != nil {
			return nil, err
		}
	}
	for _, c := range completions {
		content, err := exec.CommandContext(ctx, p.path, "completion", c.shell).Output()
		if err != nil {
			return nil, fmt.Errorf("iwdissect completion %s: %w", c.shell, err)
		}
		docs = append(docs, document{"completions/" + c.name, content})
	}
	return docs, nil
}

// compressed is a file as gzip -9n writes it: without a name or a time.
func compressed(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(content); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}
