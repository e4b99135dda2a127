package main

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// startHTTPS serves octets under any path, and returns the certificate of the server.
func startHTTPS(t *testing.T, content []byte) (url string, certificate []byte) {
	t.Helper()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		http.ServeContent(w, r, "", time.Unix(0, 0), bytes.NewReader(content))
	}))
	t.Cleanup(s.Close)
	return s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}
