package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// literals are parts of strings in what asks for the long form: variables of the campaign, and where the
// kernel tells what it can.
var literals = []string{"IWDISSECT_", "/sys/kernel/security/lsm"}

// others are literals that ask for nothing: a variable of the program itself, and how a test calls itself as a
// process of its own.
var others = []string{"IWDISSECT_PAGER", "IWDISSECT_TEST_"}

// asksFor reports whether a literal asks for the long form.
func asksFor(literal string) bool {
	in := func(part string) bool { return strings.Contains(literal, part) }
	return slices.ContainsFunc(literals, in) && !slices.ContainsFunc(others, in)
}

// skips are the methods of t by which a test is skipped. A campaign lists those that were: the step test does not say it.
var skips = []string{"Skip", "Skipf", "SkipNow"}

// A selection is the tests of a campaign by name, and the folders that they are in, sorted. A test of
// another folder may have the name of one of them.
type selection struct {
	tests    []string
	packages []string
}

// An answers holds, by the name of a package that helps tests, what of it asks for the long form.
type answers map[string][]string

// long looks through the tests of all folders but some.
func long(root fs.FS, without []string) (selection, error) {
	tests, helpers, err := parsed(root, without)
	if err != nil {
		return selection{}, err
	}
	asks := answers{}
	for more := true; more; { // helpers use each other
		more = false
		for folder, files := range helpers {
			names := asking(files, asks)
			more = more || len(names) > len(asks[path.Base(folder)])
			asks[path.Base(folder)] = names
		}
	}
	names := map[string]bool{}
	var found selection
	for _, folder := range slices.Sorted(maps.Keys(tests)) {
		ask := slices.DeleteFunc(asking(tests[folder], asks), func(name string) bool {
			return !strings.HasPrefix(name, "Test") || name == "TestMain"
		})
		if len(ask) > 0 {
			found.packages = append(found.packages, folder)
		}
		for _, name := range ask {
			names[name] = true
		}
	}
	if len(names) == 0 {
		return selection{}, errors.New("no test has a long form")
	}
	found.tests = slices.Sorted(maps.Keys(names))
	return found, nil
}

// parsed reads the tests by folder, and the packages that help them: those in a folder named ...test, or
// below one.
func parsed(root fs.FS, without []string) (tests, helpers map[string][]*ast.File, err error) {
	tests, helpers = map[string][]*ast.File{}, map[string][]*ast.File{}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		folder := path.Dir(name)
		into := helpers
		switch {
		case err != nil:
			return err
		case d.IsDir() && (slices.Contains(without, name) || d.Name() == "testdata" || name != "." && strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go"):
			return nil
		case strings.HasSuffix(name, "_test.go"):
			into = tests
		case !strings.Contains(folder+"/", "test/"):
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		into[folder] = append(into[folder], f)
		return nil
	})
	return tests, helpers, err
}

// asking returns the functions, methods and variables in files of a package that ask for the long form,
// themselves or by what they use. It compares names, so one too many may be found.
func asking(files []*ast.File, asks answers) []string {
	uses := map[string][]string{} // by each function, method and variable: what its text names
	found := map[string]bool{}
	for _, f := range files {
		for _, decl := range f.Decls {
			for _, name := range declared(decl) {
				named, asked := mentions(decl, asks)
				uses[name] = append(uses[name], named...)
				found[name] = found[name] || asked
			}
		}
	}
	for more := true; more; {
		more = false
		for name, named := range uses {
			if !found[name] && slices.ContainsFunc(named, func(n string) bool { return found[n] }) {
				found[name], more = true, true
			}
		}
	}
	maps.DeleteFunc(found, func(_ string, asked bool) bool { return !asked })
	return slices.Sorted(maps.Keys(found))
}

// declared lists the functions, methods and variables of a declaration.
func declared(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for _, n := range v.Names {
					names = append(names, n.Name)
				}
			}
		}
		return names
	}
	return nil
}

// mentions lists the names in a declaration, and tells whether it asks for the long form itself, or may be skipped.
func mentions(decl ast.Decl, asks answers) (named []string, asked bool) {
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok {
				asked = asked || slices.Contains(asks[of.Name], n.Sel.Name) || of.Name == "t" && slices.Contains(skips, n.Sel.Name)
			}
		case *ast.Ident:
			named = append(named, n.Name)
		case *ast.BasicLit:
			asked = asked || asksFor(n.Value)
		}
		return true
	})
	return named, asked
}
