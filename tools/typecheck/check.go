package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles, SFiles []string
	ImportMap       map[string]string
	DepOnly         bool // it is only there for those that were asked for
	Module          *struct{ GoVersion string }
	Error           *struct{ Err string }
}

// checker checks the packages of one target, each behind those that it imports.
type checker struct {
	files *token.FileSet
	sizes types.Sizes
	done  map[string]*types.Package
	errs  []error
}

// check checks packages for a target such as darwin/arm64, and returns how many of them there are.
func check(ctx context.Context, dir, target string, patterns []string) (int, error) {
	system, processor, _ := strings.Cut(target, "/")
	sizes := types.SizesFor("gc", processor)
	if sizes == nil {
		return 0, fmt.Errorf("no processor is called %q", processor)
	}
	// With a profile each package would be there twice.
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-e", "-deps", "-pgo=off", "-json=ImportPath,Dir,GoFiles,SFiles,ImportMap,DepOnly,Module,Error"}, patterns...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("go list: %w", err)
	}
	c := &checker{files: token.NewFileSet(), sizes: sizes, done: map[string]*types.Package{"unsafe": types.Unsafe}}
	asked := 0
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); err == io.EOF {
			return asked, errors.Join(c.errs...)
		} else if err != nil {
			return asked, err
		}
		if !p.DepOnly {
			asked++
		}
		c.add(&p)
	}
}

// add checks a package. The bodies of functions matter in those that were asked for.
func (c *checker) add(p *listed) {
	if p.ImportPath == "unsafe" {
		return
	}
	if p.Error != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %s", p.ImportPath, p.Error.Err))
		return
	}
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(c.files, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			c.errs = append(c.errs, err)
			continue
		}
		files = append(files, f)
		if !p.DepOnly && len(p.SFiles) == 0 {
			c.bodies(f)
		}
	}
	config := types.Config{
		Importer: importer(func(path string) (*types.Package, error) {
			if other, ok := p.ImportMap[path]; ok {
				path = other
			}
			if known := c.done[path]; known != nil {
				return known, nil
			}
			return nil, fmt.Errorf("%s was not listed", path)
		}),
		Sizes: c.sizes, IgnoreFuncBodies: p.DepOnly,
		Error: func(err error) { c.errs = append(c.errs, err) },
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		config.GoVersion = "go" + p.Module.GoVersion
	}
	c.done[p.ImportPath], _ = config.Check(p.ImportPath, c.files, files, nil) // Error has what is wrong
}

// bodies finds functions that nothing implements.
func (c *checker) bodies(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Body == nil {
			c.errs = append(c.errs, fmt.Errorf("%s: %s has no body, and the package has no assembly", c.files.Position(d.Pos()), d.Name.Name))
		}
	}
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
