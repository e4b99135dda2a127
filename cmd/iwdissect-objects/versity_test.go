package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/iwdissect/iwdissect/cmd/iwdissect-objects/internal/s3test"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestVersity: a server of S3 that others wrote, with buckets that are folders, has objects read,
// listed and refused. It is found in PATH; .ci/run
// builds it.
func TestVersity(t *testing.T) {
	program := tracetest.Program(t, "versitygw", "IWDISSECT_VERSITYGW")
	s3test.New(t) // for its environment
	address := startVersity(t, program)
	t.Setenv("AWS_ENDPOINT_URL", "http://"+address)
	text, err := os.ReadFile(filepath.Join(folder, capture))
	if err != nil {
		t.Fatal(err)
	}
	client, err := minio.New(address, &minio.Options{Creds: credentials.NewStaticV4(s3test.Key, s3test.Secret, ""), Region: s3test.Region})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.MakeBucket(t.Context(), s3test.Bucket, minio.MakeBucketOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"ring/a b.pcap", "ring/notes.txt"} {
		if _, err := client.PutObject(t.Context(), s3test.Bucket, key, bytes.NewReader(text), int64(len(text)), minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	want, _, code := run(t, filepath.Join(folder, capture))
	for _, url := range []string{"s3://captures/ring/a b.pcap", "s3://captures/ring/", "s3://captures/ring", "s3://captures/ring/a*"} {
		got, said, c := run(t, url)
		if c != code || strings.ReplaceAll(got, "s3://captures/ring/a b.pcap", filepath.Join(folder, capture)) != want {
			t.Errorf("%s: exit code %d, %s\n%.300s", url, c, said, got)
		}
	}
	for url, want := range map[string]string{
		"s3://captures/none.pcap": "there is no such object", "s3://nowhere/x.pcap": "there is no such bucket", "s3://captures/none/": "no objects whose keys begin so",
	} {
		if _, said, code := run(t, url); code != 3 || !strings.Contains(said, want) {
			t.Errorf("%s: exit code %d, %s", url, code, said)
		}
	}
	t.Setenv("AWS_SECRET_ACCESS_KEY", "other")
	if _, said, code := run(t, "s3://captures/ring/a b.pcap"); code != 3 || !strings.Contains(said, "access denied: SignatureDoesNotMatch") {
		t.Errorf("wrong key: exit code %d, %s", code, said)
	}
}

// startVersity starts the server and waits until it listens.
func startVersity(t *testing.T, program string) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	l.Close()
	var said bytes.Buffer
	cmd := exec.Command(program, "--port", address, "--access", s3test.Key, "--secret", s3test.Secret, "--region", s3test.Region, "posix", t.TempDir())
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		if c, err := net.Dial("tcp", address); err == nil {
			c.Close()
			return address
		}
		select {
		case <-ctx.Done():
			t.Fatal("versitygw does not listen: ", said.String())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
