package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: what is wrong on one system only is found for that system, also where a dependency is another one there.
func TestCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.org/m\n\ngo 1.26\n",
		"m.go":           "package m\n\nimport (\n\t\"os\"\n\n\t\"example.org/m/sub\"\n)\n\nvar Out = os.Stdout\n\nconst Wide = sub.Size - 5\n\nvar _ [Wide]int\n",
		"m_darwin.go":    "package m\n\nfunc f() { var unused int }\n",
		"m_linux.go":     "package m\n\nimport \"syscall\"\n\nvar _ = syscall.EPOLL_CLOEXEC\n",
		"sub/size.go":    "package sub\n\nimport \"unsafe\"\n\nconst Size = int(unsafe.Sizeof(uintptr(0)))\n",
		"sub/windows.go": "//go:build windows\n\npackage sub\n\nfunc missing()\n",
		"sub/asm.go":     "//go:build freebsd\n\npackage sub\n\nfunc there()\n",
		"sub/asm.s":      "//go:build freebsd\n\nTEXT ·there(SB),4,$0\n\tRET\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ target, want string }{
		{"linux/amd64", ""},
		{"freebsd/arm64", ""},
		{"darwin/arm64", "m_darwin.go:3:16: declared and not used: unused"},
		{"windows/amd64", "windows.go:5:1: missing has no body"},
		{"linux/386", "invalid array length Wide"},
		{"linux/none", `no processor is called "none"`},
	} {
		n, err := check(t.Context(), dir, tt.target, []string{"./..."})
		switch {
		case tt.want == "" && (err != nil || n != 2):
			t.Errorf("%s: %d packages, %v", tt.target, n, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", tt.target, err, tt.want)
		}
	}
}
