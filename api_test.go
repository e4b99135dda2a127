package iwdissect_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/doc"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/iwdissect/iwdissect"

// public are the packages that other modules may import.
var public = []string{
	"", "conformance", "conformance/catalogue", "dissect", "dissect/ddp", "dissect/iser", "dissect/mpa", "dissect/nvme", "dissect/rdmap", "dissect/rpcrdma", "dissect/sctpddp", "dissect/smbdirect", "layers", "reassembly", "trace",
}

// listed is a package as go list describes it.
type listed struct{ ImportPath, Export, Dir, Name string }

// list asks the go command for packages, with what the compiler exports of them.
func list(t *testing.T, args ...string) (out []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Export,Dir,Name"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	b, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, &errs)
	}
	for dec := json.NewDecoder(bytes.NewReader(b)); ; {
		var p listed
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return out
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, p)
	}
}

// TestAPI_Packages: no package is public by accident.
func TestAPI_Packages(t *testing.T) {
	var got []string
	for _, p := range list(t, "./...") {
		path := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if p.Name != "main" && !slices.Contains(strings.Split(path, "/"), "internal") {
			got = append(got, path)
		}
	}
	if !slices.Equal(got, public) {
		t.Errorf("packages that others can import: %q, want %q", got, public)
	}
}

// knobs are names of what tunes this program, and is of no use to others. What is
// exported under such a name stays for good once there is a version 1.
var knobs = []string{
	"Brief", "Deferred", "Hope", "Hopeful", "Kept", "Lean", "Memory", "NewDeferred", "NewMemory", "Room", "Summed", "SumsInDoubt",
}

// TestAPI: nothing that is exported mentions a type of an internal package, or has
// the name of a knob.
func TestAPI(t *testing.T) {
	exports := map[string]string{}
	args := []string{"-export", "-deps"}
	for _, p := range public {
		args = append(args, "./"+p)
	}
	for _, p := range list(t, args...) {
		exports[p.ImportPath] = p.Export
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	a := &api{t: t}
	for _, p := range public {
		pkg, err := imp.Import(strings.TrimSuffix(module+"/"+p, "/"))
		if err != nil {
			t.Fatal(err)
		}
		a.pkg(pkg)
	}
	if a.seen < 1000 {
		t.Errorf("only %d exported names were looked at", a.seen)
	}
}

// api looks at what packages export.
type api struct {
	t    *testing.T
	at   string // the exported name at hand
	seen int
}

func (a *api) pkg(pkg *types.Package) {
	short := strings.TrimPrefix(strings.TrimPrefix(pkg.Path(), module), "/")
	if short == "" {
		short = pkg.Name()
	}
	for _, name := range pkg.Scope().Names() {
		obj := pkg.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		a.name(short+"."+name, name)
		if _, ok := obj.(*types.TypeName); !ok {
			a.typ(obj.Type())
			continue
		}
		if alias, ok := obj.Type().(*types.Alias); ok {
			a.typ(alias.Rhs())
			continue
		}
		named := obj.Type().(*types.Named)
		a.typ(named.Underlying())
		for set, i := types.NewMethodSet(types.NewPointer(named)), 0; i < set.Len(); i++ {
			if m := set.At(i).Obj(); m.Exported() {
				a.name(short+"."+name+"."+m.Name(), m.Name())
				a.typ(m.Type())
			}
		}
	}
}

func (a *api) name(full, name string) {
	a.at = full
	a.seen++
	if !slices.Contains(knobs, name) {
		return
	}
	a.t.Errorf("%s: the name of a knob", full)
}

// typ looks at a type and at those that it is made of, up to named ones: those of
// public packages are looked at where they are declared.
func (a *api) typ(t types.Type) {
	switch t := t.(type) {
	case *types.Alias:
		a.typ(t.Rhs())
	case *types.Named:
		if pkg := t.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module) && slices.Contains(strings.Split(pkg.Path(), "/"), "internal") {
			a.t.Errorf("%s mentions %s", a.at, t)
		}
		for arg := range t.TypeArgs().Types() {
			a.typ(arg)
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			a.typ(v.Type())
		}
		for v := range t.Results().Variables() {
			a.typ(v.Type())
		}
	case *types.Struct:
		at := a.at
		for f := range t.Fields() {
			switch {
			case f.Exported():
				a.name(at+"."+f.Name(), f.Name())
				a.typ(f.Type())
			case f.Embedded(): // its exported members can be reached
				a.typ(types.Unalias(f.Type()).Underlying())
			}
		}
		a.at = at
	case *types.Interface:
		for m := range t.Methods() {
			a.typ(m.Type())
		}
	case *types.Map:
		a.typ(t.Key())
		a.typ(t.Elem())
	case interface{ Elem() types.Type }: // a pointer, a slice, an array, a channel
		a.typ(t.Elem())
	}
}

// TestAPI_Documented: every public package says what it is for, and shows it in an
// example that is run; every exported name has a comment.
func TestAPI_Documented(t *testing.T) {
	for _, p := range public {
		dir := filepath.Join(".", filepath.FromSlash(p))
		names, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		fset := token.NewFileSet()
		var files, tests []*ast.File
		for _, name := range names {
			f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, "_test.go") {
				tests = append(tests, f)
			} else {
				files = append(files, f)
			}
		}
		if p == "" {
			p = "iwdissect"
		}
		run := 0
		for _, x := range doc.Examples(tests...) {
			if x.Output != "" {
				run++
			}
		}
		if run == 0 {
			t.Errorf("%s has no example with output", p)
		}
		docs, err := doc.NewFromFiles(fset, files, module+"/"+p)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(docs.Doc, "Package ") || strings.Count(docs.Doc, ".") < 2 {
			t.Errorf("%s: the package comment is %q", p, docs.Doc)
		}
		for name := range undocumented(docs) {
			t.Errorf("%s.%s has no comment", p, name)
		}
	}
}

// undocumented are the exported names without a comment. One comment may be for a
// group.
func undocumented(p *doc.Package) map[string]bool {
	out := map[string]bool{}
	values := func(vs []*doc.Value) {
		for _, v := range vs {
			if v.Doc == "" {
				out[v.Names[0]] = true
			}
		}
	}
	funcs := func(owner string, fs []*doc.Func) {
		for _, f := range fs {
			if f.Doc == "" {
				out[owner+f.Name] = true
			}
		}
	}
	values(p.Consts)
	values(p.Vars)
	funcs("", p.Funcs)
	for _, typ := range p.Types {
		if typ.Doc == "" {
			out[typ.Name] = true
		}
		values(typ.Consts)
		values(typ.Vars)
		funcs("", typ.Funcs)
		funcs(typ.Name+".", typ.Methods)
	}
	maps.DeleteFunc(out, func(name string, _ bool) bool { return !ast.IsExported(name) })
	return out
}

// TestError_Codes: the comment of Error lists all codes that there are.
func TestError_Codes(t *testing.T) {
	var codes []string
	for _, name := range []string{"internal/pcapng/error.go", "internal/capture/error.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				if v := s.(*ast.ValueSpec); strings.HasPrefix(v.Names[0].Name, "Code") {
					code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
					if err != nil {
						t.Fatal(err)
					}
					codes = append(codes, code)
				}
			}
		}
	}
	src, err := os.ReadFile("error.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(codes) < 10 {
		t.Errorf("only %q", codes)
	}
	for _, code := range codes {
		if !bytes.Contains(src, []byte("\t//\t"+code+" ")) {
			t.Errorf("the comment of Error has no code %q", code)
		}
	}
}
