package outfile

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// has fails unless a file has a content.
func has(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || string(got) != want {
		t.Errorf("%s has %q, not %q: %v", name, got, want, err)
	}
}

func put(t *testing.T, name, content string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
}

// output writes an output, and keeps it or not.
func output(t *testing.T, name, content string, commit bool) {
	t.Helper()
	o, err := Create(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if commit {
		err = o.Commit()
	} else {
		err = o.Discard()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFile_Replaces: an older file stays until the new one is whole; its mode, and the link
// that leads to it, stay for good.
func TestFile_Replaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	output(t, path, "new", false)
	if got := tracetest.Names(t, dir); got != "" {
		t.Error("something is left of what was discarded:", got)
	}
	put(t, path, "old", 0o666)
	output(t, path, "new", false)
	has(t, path, "old")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	output(t, link, "new", true)
	has(t, path, "new")
	if i, err := os.Lstat(link); err != nil || i.Mode()&os.ModeSymlink == 0 {
		t.Error("the link is gone", err)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o666 {
		t.Error(i.Mode(), err)
	}
	if got := tracetest.Names(t, dir); got != "link out" {
		t.Error(got)
	}
}

// TestFile_Refused: what cannot be an output says why, and nothing is touched.
func TestFile_Refused(t *testing.T) {
	dir := t.TempDir()
	lost := filepath.Join(dir, "lost")
	if err := os.Symlink(filepath.Join(dir, "no"), lost); err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]string{
		dir:                            "it is a folder: name a file",
		lost:                           "it is a link that leads to nothing",
		filepath.Join(dir, "no", "x"):  "make its folder first",
		filepath.Join(dir, "no") + "/": "",
	} {
		if _, err := Create(name, nil); err == nil || !strings.HasPrefix(err.Error(), name+" is not written: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := tracetest.Names(t, dir); got != "lost" {
		t.Error(got)
	}
}

// TestApart_Redirected: what standard input was redirected from is read too.
func TestApart_Redirected(t *testing.T) {
	name := filepath.Join(t.TempDir(), "in")
	put(t, name, "dear", 0o600)
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	was := os.Stdin
	os.Stdin = f
	defer func() { os.Stdin = was }()
	if err := Apart(name, []string{"-"}); !errors.Is(err, ErrInput) {
		t.Error(err)
	}
	if err := Apart(name, nil); err != nil {
		t.Error(err)
	}
}

// TestApart_LinksAndHardLinks: an input is known by its device and inode, whatever it is
// called.
func TestApart_LinksAndHardLinks(t *testing.T) {
	dir := t.TempDir()
	path, link, hard := filepath.Join(dir, "in"), filepath.Join(dir, "link"), filepath.Join(dir, "hard")
	put(t, path, "dear", 0o600)
	if err := errors.Join(os.Symlink(path, link), os.Link(path, hard)); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, link, hard, filepath.Join(dir, "..", filepath.Base(dir), "in")} {
		if err := Apart(name, []string{"nothing", path}); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Create(name, []string{path}); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Grow(name, []string{path}); !errors.Is(err, ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
		if err := Distinct(name, []string{path}); !errors.Is(err, ErrTwice) {
			t.Errorf("%s: %v", name, err)
		}
	}
	has(t, path, "dear")
	for _, name := range []string{filepath.Join(dir, "other"), "/dev/null", "/dev/stdout", "-"} {
		if err := errors.Join(Apart(name, []string{path}), Distinct(name, []string{path})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := Distinct(filepath.Join(dir, "new"), []string{dir + "/./new"}); !errors.Is(err, ErrTwice) {
		t.Error("two new files of one name:", err)
	}
	if err := Distinct("/dev/null", []string{"/dev/null"}); err != nil {
		t.Error(err)
	}
}

// TestWithin looks at where links lead.
func TestWithin(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "in")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "file"), "dear", 0o600)
	if err := errors.Join(os.Symlink("..", filepath.Join(dir, "up")), os.Symlink("../file", filepath.Join(dir, "link")),
		os.Symlink("../none", filepath.Join(dir, "lost")), os.Symlink("a", filepath.Join(dir, "own")), os.Symlink("in", filepath.Join(top, "alias"))); err != nil {
		t.Skip(err)
	}
	put(t, filepath.Join(dir, "a"), "", 0o600)
	for name, want := range map[string]bool{
		"in/a": true, "in/new": true, "in/sub/new": true, "in/own": true, "alias/a": true, "in/..x": true,
		"in": false, "file": false, "in/../file": false, "in/up/file": false, "in/up/new": false, "in/link": false, "in/lost": false, "new": false, "../x": false,
	} {
		if got := Within(dir, filepath.Join(top, name)); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if Within(dir, "/dev/null") || Within(dir, dir+"/up/new") {
		t.Error("outside is inside")
	}
}

// TestFile_Direct: what is no regular file is written to, and not replaced.
func TestFile_Direct(t *testing.T) {
	output(t, os.DevNull, "x", true)
	output(t, os.DevNull, "x", false)
	if i, err := os.Stat(os.DevNull); err != nil || i.Mode().IsRegular() {
		t.Fatal(i.Mode(), err)
	}
	full, err := Create("/dev/full", nil)
	if err != nil {
		t.Skip(err)
	}
	_, err = full.Write([]byte("x"))
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "/dev/full is not written: no space left on device: make room, or write elsewhere" {
		t.Error(err)
	}
	if err := full.Commit(); !errors.Is(err, syscall.ENOSPC) {
		t.Error("what was not written is committed:", err)
	}
	if i, err := os.Stat("/dev/full"); err != nil || i.Mode().IsRegular() {
		t.Fatal("the device is gone", err)
	}
}

// TestFile_StdoutGoesOn: /dev/stdout is the standard output that is open, also when that is a
// file: it is neither replaced nor written from its start.
func TestFile_StdoutGoesOn(t *testing.T) {
	if _, err := os.Lstat("/dev/stdout"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "redirected"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stdout := os.Stdout
	os.Stdout = f
	defer func() { os.Stdout = stdout }()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/dev/stdout", link); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", link} {
		f.WriteString("before ")
		output(t, name, "new ", true)
		f.WriteString("behind\n")
	}
	has(t, f.Name(), strings.Repeat("before new behind\n", 4))
	if got := tracetest.Names(t, dir); got != "link redirected" {
		t.Error(got)
	}
}

// TestFile_CommitFails: the name was taken by a folder meanwhile.
func TestFile_CommitFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	o, err := Create(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := o.Commit(); err == nil || !strings.HasPrefix(err.Error(), path+" is not written: ") {
		t.Error(err)
	}
	if got := tracetest.Names(t, dir); got != "out" {
		t.Error(got)
	}
}

// TestGrowing_ReplacesWhenShown: the older file stays until the beginning of the new one is
// written.
func TestGrowing_ReplacesWhenShown(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	put(t, path, "old", 0o640)
	g, err := Grow(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Write([]byte("head")); err != nil {
		t.Fatal(err)
	}
	has(t, path, "old")
	if err := g.Show(); err != nil {
		t.Fatal(err)
	}
	has(t, path, "head")
	if _, err := g.Write([]byte(" more")); err != nil {
		t.Fatal(err)
	}
	has(t, path, "head more")
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o640 || tracetest.Names(t, dir) != "out" {
		t.Error(i.Mode(), tracetest.Names(t, dir), err)
	}
	if _, err := GrowNew(path); !errors.Is(err, fs.ErrExist) {
		t.Error("written over:", err)
	}
	if g, err = Grow(path, nil); err != nil {
		t.Fatal(err)
	}
	if err := g.Discard(); err != nil {
		t.Error(err)
	}
	has(t, path, "head more")
}

// TestFolder_Parts: a file has its name when it is whole, and none is written over.
func TestFolder_Parts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if empty, err := d.Empty(); !empty || err != nil {
		t.Error(empty, err)
	}
	p, err := d.Create("a")
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := p.Pause(); err != nil {
			t.Fatal(err)
		}
	}
	if got := tracetest.Names(t, dir); got != ".a.part" {
		t.Error(got)
	}
	if err := p.Commit(); err != nil {
		t.Error(err)
	}
	has(t, filepath.Join(dir, "a"), "xxx")
	if _, err := d.Create("a"); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	// Somebody else takes the name meanwhile.
	if p, err = d.Create("b"); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "b"), "dear", 0o600)
	if err := p.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Error(err)
	}
	has(t, filepath.Join(dir, "b"), "dear")
	if p, err = d.Create("c"); err != nil {
		t.Fatal(err)
	}
	if err := p.Discard(); err != nil {
		t.Error(err)
	}
	if _, err := d.Create("../out"); err == nil {
		t.Error("a name leads out of the folder")
	}
	if got := tracetest.Names(t, dir); got != "a b" {
		t.Error(got)
	}
	if empty, err := d.Empty(); empty || err != nil {
		t.Error(empty, err)
	}
}

// TestFolder_Unlisted: a file that cannot be listed is not there.
func TestFolder_Unlisted(t *testing.T) {
	dir := t.TempDir()
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	list, err := d.Grow("list")
	if err != nil {
		t.Fatal(err)
	}
	for name, listed := range map[string]bool{"a": true, "b": false} {
		p, err := d.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		to := list
		if !listed {
			if to, err = d.Grow("closed"); err != nil {
				t.Fatal(err)
			}
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.CommitIn(to, []byte(name)); (err == nil) != listed {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := list.Close(); err != nil {
		t.Error(err)
	}
	has(t, filepath.Join(dir, "list"), "a")
	if got := tracetest.Names(t, dir); got != "a closed list" {
		t.Error(got)
	}
}

// TestRemoveLeftovers removes what has not come to its end.
func TestRemoveLeftovers(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "a"), "old", 0o600)
	o, err := Create(filepath.Join(dir, "a"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write(bytes.Repeat([]byte("x"), 100)); err != nil {
		t.Fatal(err)
	}
	RemoveLeftovers()
	has(t, filepath.Join(dir, "a"), "old")
	if got := tracetest.Names(t, dir); got != "a" {
		t.Error(got)
	}
	if err := o.Commit(); err == nil {
		t.Error("what was removed is committed")
	}
}

// TestRemoveLeftovers_Folders: folders that were made go if they have nothing in them, and no
// others.
func TestRemoveLeftovers_Folders(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"was", "a/b/c", "full/d"} {
		if name == "was" {
			if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := MakeFolder(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(dir, "full", "file"), "dear", 0o600)
	RemoveLeftovers()
	if got := tracetest.Names(t, dir); got != "full was" {
		t.Error(got)
	}
	if got := tracetest.Names(t, filepath.Join(dir, "full")); got != "file" {
		t.Error(got)
	}
}

// TestFolder_Begin: a file without a name is hidden until it gets one, takes the place of a file
// of that name, and leaves nothing if it is given up.
func TestFolder_Begin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := MakeFolder(dir); err != nil {
		t.Fatal(err)
	}
	d, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	names := func() (all []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	for _, content := range []string{"first", "second"} {
		p, err := d.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
		if all := names(); all[0][0] != '.' {
			t.Errorf("while it is written: %q", all)
		}
		if err := p.CommitAs("name"); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, "name")); err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
	p, err := d.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Discard(); err != nil {
		t.Fatal(err)
	}
	if all := names(); len(all) != 1 || all[0] != "name" {
		t.Errorf("left: %q", all)
	}
	// What cannot have the name leaves nothing either.
	if p, err = d.Begin(); err != nil {
		t.Fatal(err)
	}
	if err := p.CommitAs("../out"); err == nil {
		t.Error("it left the folder")
	}
	if all := names(); len(all) != 1 {
		t.Errorf("left: %q", all)
	}
	if err := MakeFolder(filepath.Join(dir, "name", "c")); err == nil {
		t.Error("a folder in a file")
	}
}
