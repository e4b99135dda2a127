package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const importPath = "github.com/iwdissect/iwdissect/cmd/iwdissect"

// program is one that was built.
type program struct {
	target
	path    string
	content []byte
}

// fileName is that of the program on its system.
func (t target) fileName() string {
	if t.system == "windows" {
		return "iwdissect.exe"
	}
	return "iwdissect"
}

// build builds the program. cmd/iwdissect/default.pgo says what to inline.
func build(ctx context.Context, o options, v *version, t target, work string) (*program, error) {
	p := &program{target: t, path: filepath.Join(work, t.system+"_"+t.arch, t.fileName())}
	commit := "-buildvcs=true"
	if v.snapshot == noCommit {
		commit = "-buildvcs=false"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", commit, "-ldflags=-s -w", "-o", p.path, importPath)
	cmd.Dir = o.root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.system, "GOARCH="+t.arch, "GOWORK=off")
	// The level of the processor is that of all, whatever the environment says.
	cmd.Env = append(cmd.Env, "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s/%s does not build: %w\n%s", t.system, t.arch, err, out)
	}
	var err error
	p.content, err = os.ReadFile(p.path)
	return p, err
}

// version is that of the release.
type version struct {
	number string // 0.1.0
	// snapshot is the commit, shortened, of what is no release.
	snapshot string
	// date is that of the commit; files have it.
	date time.Time
}

// noCommit stands for that of a folder that is no clone.
const noCommit = "unknown"

// String is the version in names of files.
func (v *version) String() string {
	if v.snapshot != "" {
		return v.number + "-snapshot." + v.snapshot
	}
	return v.number
}

var versionConstant = regexp.MustCompile(`(?m)^const Version = "([0-9]+\.[0-9]+\.[0-9]+)"$`)

// versionOf finds the version: a release is the commit of its tag, without changes.
func versionOf(ctx context.Context, o options) (*version, error) {
	src, err := os.ReadFile(filepath.Join(o.root, "internal", "cli", "version.go"))
	if err != nil {
		return nil, err
	}
	m := versionConstant.FindSubmatch(src)
	if m == nil {
		return nil, errors.New("internal/cli/version.go has no version such as 0.1.0")
	}
	v := &version{number: string(m[1])}
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", o.root}, args...)...)
		out, err := cmd.Output()
		return strings.TrimSpace(string(out)), err
	}
	if o.snapshot {
		v.snapshot = noCommit
		if rev, err := git("rev-parse", "--short=12", "HEAD"); err == nil {
			v.snapshot = rev
		}
	} else {
		tags, err := git("tag", "--points-at", "HEAD")
		if err != nil {
			return nil, fmt.Errorf("git: %w", err)
		}
		if tag := "v" + v.number; !strings.Contains("\n"+tags+"\n", "\n"+tag+"\n") {
			return nil, fmt.Errorf("the commit has no tag %s, which internal/cli/version.go asks for; -snapshot needs none", tag)
		}
		if changed, err := git("status", "--porcelain"); err != nil || changed != "" {
			return nil, fmt.Errorf("there are files that are not committed; a release is what its tag has:\n%s", changed)
		}
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	switch {
	case seconds != "":
	case v.snapshot == noCommit:
		seconds = "315532800" // 1980, where the times of zip begin
	default:
		if seconds, err = git("log", "-1", "--format=%ct"); err != nil {
			return nil, fmt.Errorf("git: %w", err)
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	v.date = time.Unix(n, 0).UTC()
	return v, nil
}

// same makes sure that a program says that it is this version.
func (v *version) same(ctx context.Context, p *program) error {
	out, err := exec.CommandContext(ctx, p.path, "version").Output()
	if err == nil && !bytes.HasPrefix(out, []byte("iwdissect "+v.number+" ")) {
		err = fmt.Errorf("the program says %q, not %s", out, v.number)
	}
	return err
}
