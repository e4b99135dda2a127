package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

const root = "../.."

// snapshot makes the files for this machine, once for all tests.
var snapshot = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "snapshot-")
	if err != nil {
		return "", err
	}
	return folder, release(context.Background(), options{root: root, out: folder, snapshot: true, host: true})
})

func TestMain(m *testing.M) {
	code := m.Run()
	if folder, err := snapshot(); err == nil {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

// of are the files of the snapshot with an extension.
func of(t *testing.T, extension string) string {
	t.Helper()
	folder, err := snapshot()
	if err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(folder, "*"+extension))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d files %s, %v", len(found), extension, err)
	}
	return found[0]
}

// linux leaves out what there is for Linux only.
func linux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("packages are made for Linux")
	}
}

// TestSnapshot_Reproducible: another run makes the same octets, and the checksums are right.
func TestSnapshot_Reproducible(t *testing.T) {
	sums, err := os.ReadFile(of(t, checksumFile))
	if err != nil {
		t.Fatal(err)
	}
	again := t.TempDir()
	if err := release(t.Context(), options{root: root, out: again, snapshot: true, host: true}); err != nil {
		t.Fatal(err)
	}
	if other, err := os.ReadFile(filepath.Join(again, checksumFile)); err != nil || !bytes.Equal(sums, other) {
		t.Errorf("%v: checksums of two runs:\n%s%s", err, sums, other)
	}
	listed := 0
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		content, err := os.ReadFile(filepath.Join(again, name))
		if err != nil || !ok || fmt.Sprintf("%x", sha256.Sum256(content)) != sum {
			t.Errorf("%s: %v", line, err)
		}
		listed++
	}
	if files, err := os.ReadDir(again); err != nil || len(files) != listed+1 {
		t.Errorf("%d files, %d of them listed, %v", len(files), listed, err)
	}
	if err := release(t.Context(), options{root: root, out: again, snapshot: true, host: true}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("a folder that is not empty: %v", err)
	}
}

// contents of an archive by their names, without the first folder.
func contents(t *testing.T, path string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	take := func(name string, r io.Reader) {
		_, name, ok := strings.Cut(name, "/")
		content, err := io.ReadAll(r)
		if err != nil || !ok || files[name] != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files[name] = content
	}
	if strings.HasSuffix(path, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			take(f.Name, r)
		}
		return files
	}
	g, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(g); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		take(h.Name, r)
	}
}

// runs runs a program, and returns what it prints.
func runs(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v: %s", program, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestSnapshot_Archive: the program of the archive runs, has the profile that says what to inline,
// and its documents are with it.
func TestSnapshot_Archive(t *testing.T) {
	extension := ".tar.gz"
	if runtime.GOOS == "windows" {
		extension = ".zip"
	}
	files := contents(t, of(t, extension))
	for _, name := range []string{"LICENSE", "README.md", "THIRD_PARTY_NOTICES.md", "man/iwdissect.1", "man/iwdissect-check.1", "completions/iwdissect.bash", "completions/_iwdissect", "wireshark/iwdissect/preferences"} {
		if len(files[name]) == 0 {
			t.Errorf("there is no %s", name)
		}
	}
	name := target{system: runtime.GOOS}.fileName()
	program := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(program, files[name], 0o700); err != nil {
		t.Fatal(err)
	}
	if out := runs(t, program, "version"); !strings.HasPrefix(out, "iwdissect ") || !strings.Contains(out, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Errorf("version: %s", out)
	}
	if out := runs(t, program, "analyze", "--brief", root+"/testdata/pcaps/term-wbadkey.pcap"); !strings.Contains(out, "Invalid STag") {
		t.Errorf("analyze: %s", out)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"-trimpath=true", "-pgo=default.pgo", "CGO_ENABLED=0"} {
		if !slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key+"="+s.Value == want }) {
			t.Errorf("the program was not built with %s: %v", want, info.Settings)
		}
	}
}

// TestSnapshot_Deb: the package has its files where Debian looks, and the program runs from there.
func TestSnapshot_Deb(t *testing.T) {
	linux(t)
	dpkg := tracetest.Program(t, "dpkg-deb", "IWDISSECT_PACKAGES")
	deb, to := of(t, ".deb"), t.TempDir()
	runs(t, dpkg, "-x", deb, to)
	for _, name := range []string{
		"usr/share/man/man1/iwdissect.1.gz", "usr/share/bash-completion/completions/iwdissect", "usr/share/zsh/vendor-completions/_iwdissect",
		"usr/share/fish/vendor_completions.d/iwdissect.fish", "usr/share/doc/iwdissect/copyright", "usr/share/doc/iwdissect/THIRD_PARTY_NOTICES.md",
	} {
		if info, err := os.Stat(filepath.Join(to, name)); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o644 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if out := runs(t, filepath.Join(to, "usr/bin/iwdissect"), "version"); !strings.HasPrefix(out, "iwdissect ") {
		t.Errorf("version: %s", out)
	}
	if out := runs(t, dpkg, "-f", deb, "Package", "Architecture", "Version"); !strings.Contains(out, "Architecture: "+runtime.GOARCH) || !strings.Contains(out, "~snapshot") {
		t.Errorf("fields: %s", out)
	}
}

// TestSnapshot_RPM: rpm reads the package, its digests are right, and its files are in their places.
func TestSnapshot_RPM(t *testing.T) {
	linux(t)
	rpm := tracetest.Program(t, "rpm", "IWDISSECT_PACKAGES")
	list := strings.Split(runs(t, rpm, "-qpl", of(t, ".rpm")), "\n")
	for _, name := range []string{"/usr/bin/iwdissect", "/usr/share/man/man1/iwdissect.1.gz", "/usr/share/zsh/site-functions/_iwdissect", "/usr/share/doc/iwdissect/LICENSE"} {
		if !slices.Contains(list, name) {
			t.Errorf("no %s in %s", name, list)
		}
	}
	if out := runs(t, rpm, "-K", of(t, ".rpm")); !strings.Contains(out, "digests OK") {
		t.Errorf("rpm -K: %s", out)
	}
}

// TestSnapshot_Bill: the bill of materials names the modules that THIRD_PARTY_NOTICES.md has the
// licences of, and the program it is about.
func TestSnapshot_Bill(t *testing.T) {
	text, err := os.ReadFile(of(t, ".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		BOMFormat  string `json:"bomFormat"`
		Components []struct{ Name, Version, Purl string }
		Metadata   struct {
			Component struct{ Hashes []struct{ Content string } }
		}
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	notices, err := os.ReadFile(root + "/THIRD_PARTY_NOTICES.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range bill.Components {
		if line := "- " + c.Name + " " + c.Version + "\n"; c.Name != "std" && !strings.Contains(string(notices), line) {
			t.Errorf("THIRD_PARTY_NOTICES.md does not have %s", line)
		}
		if c.Purl != "pkg:golang/"+c.Name+"@"+c.Version {
			t.Errorf("%s is called %s", c.Name, c.Purl)
		}
	}
	if bill.BOMFormat != "CycloneDX" || len(bill.Components) < 10 {
		t.Errorf("%s with %d components", bill.BOMFormat, len(bill.Components))
	}
	if runtime.GOOS == "windows" {
		return
	}
	program := contents(t, of(t, ".tar.gz"))["iwdissect"]
	if h := bill.Metadata.Component.Hashes; len(h) != 1 || h[0].Content != fmt.Sprintf("%x", sha256.Sum256(program)) {
		t.Errorf("it is about %v, not about the program", h)
	}
}

// mostImage bounds what is fetched for the container image.
const mostImage = 15_000_000

// TestImage: an image of the Containerfile is small. Where buildah is, it is built.
func TestImage(t *testing.T) {
	linux(t)
	files := contents(t, of(t, ".tar.gz"))
	work := t.TempDir()
	size := 0
	for _, name := range []string{"iwdissect", "LICENSE", "THIRD_PARTY_NOTICES.md"} {
		if err := os.WriteFile(filepath.Join(work, name), files[name], 0o700); err != nil {
			t.Fatal(err)
		}
		layer, err := compressed(files[name])
		if err != nil {
			t.Fatal(err)
		}
		size += len(layer)
	}
	if size > mostImage {
		t.Errorf("an image is %d octets, more than %d", size, mostImage)
	}
	buildah := tracetest.Program(t, "buildah", "IWDISSECT_BUILDAH")
	for _, name := range []string{"Containerfile", ".containerignore"} {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(work, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("needs root to build an image without a user namespace")
	}
	place := []string{"--storage-driver", "vfs", "--root", filepath.Join(work, "store"), "--runroot", filepath.Join(work, "run")}
	runs(t, buildah, append(place, "bud", "--isolation", "chroot", "-t", "iwdissect", work)...)
	image := filepath.Join(work, "image.tar")
	runs(t, buildah, append(place, "push", "iwdissect", "oci-archive:"+image)...)
	if info, err := os.Stat(image); err != nil || info.Size() > mostImage {
		t.Errorf("the image: %v, %v", info, err)
	}
}

// TestRelease_Refused: what is no tagged commit is no release.
func TestRelease_Refused(t *testing.T) {
	if _, err := exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "HEAD").Output(); err != nil {
		t.Skip("this is no clone")
	}
	if tag, err := exec.CommandContext(t.Context(), "git", "-C", root, "tag", "--points-at", "HEAD").Output(); err != nil || len(tag) > 0 {
		t.Skip("this is a release")
	}
	err := release(t.Context(), options{root: root, out: filepath.Join(t.TempDir(), "dist")})
	if err == nil || !strings.Contains(err.Error(), "has no tag v") {
		t.Errorf("%v, want that there is no tag", err)
	}
}

// TestInstall: go install of a module as the proxy has it works, with nothing replaced, and the
// program says which version it is of.
func TestInstall(t *testing.T) {
	const path, number = "github.com/iwdissect/iwdissect", "v0.9.9-test"
	proxy, cache, bin := t.TempDir(), t.TempDir(), t.TempDir()
	at := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(at, 0o700); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := modzip.CreateFromDir(&b, module.Version{Path: path, Version: number}, root); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(root + "/go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(mod, []byte("replace")) {
		t.Error("go.mod replaces modules: go install refuses it")
	}
	if err := os.WriteFile(filepath.Join(at, "list"), []byte(number+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{".zip": b.Bytes(), ".mod": mod, ".info": []byte(`{"Version":"` + number + `"}`)} {
		if err := os.WriteFile(filepath.Join(at, number+name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil ||
		!slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == path+"@"+number+"/cmd/iwdissect/default.pgo" }) {
		t.Errorf("the module lacks the profile that says what to inline: %v", err)
	}
	// What it needs was fetched before: it comes from the module cache, without a network.
	fetched := strings.TrimSpace(runs(t, "go", "env", "GOMODCACHE"))
	// With -trimpath, what it needs is what the snapshot needed: only its own packages are compiled, and not optimized.
	cmd := exec.CommandContext(t.Context(), "go", "install", "-trimpath", "-gcflags="+path+"/...=-N -l -dwarf=false", path+"/cmd/iwdissect@"+number)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOPROXY=file://"+proxy+",file://"+filepath.Join(fetched, "cache", "download"), "GOMODCACHE="+cache, "GOBIN="+bin,
		"GOSUMDB=off", "GOFLAGS=-modcacherw", "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go install: %v: %s", err, out)
	}
	out := runs(t, filepath.Join(bin, target{system: runtime.GOOS}.fileName()), "version")
	if !strings.Contains(out, "(module "+number+", ") {
		t.Errorf("version: %s", out)
	}
}
