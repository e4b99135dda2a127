// Package check holds the manifests of examples against the types of Kubernetes: each key must be
// one of them, and each value of its type. It is a module of its own, since these types are heavy.
package check

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// decode reads a manifest strictly.
func decode(t *testing.T, file string, to any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.UnmarshalStrict(text, to)
	}
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestManifests: every manifest decodes, and what they say of each other is so.
func TestManifests(t *testing.T) {
	var points corev1.ConfigMap
	var analyze, merge batchv1.Job
	var probe corev1.Pod
	known := map[string]any{"points.yaml": &points, "analyze.yaml": &analyze, "merge.yaml": &merge}
	files, err := filepath.Glob("../*.yaml")
	if err != nil || len(files) != len(known) {
		t.Fatalf("%v, %v: a manifest has no type here", files, err)
	}
	for _, file := range files {
		decode(t, file, known[filepath.Base(file)])
	}
	decode(t, "../../probe/pod.yaml", &probe)

	n := int32(0)
	for _, line := range strings.Split(points.Data["points.txt"], "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			n++
		}
	}
	if s := analyze.Spec; *s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != n || *s.MaxFailedIndexes != n {
		t.Errorf("the list has %d points, the job completions %d of mode %s", n, *s.Completions, *s.CompletionMode)
	}
	for _, job := range []*batchv1.Job{&analyze, &merge} {
		volumes := map[string]bool{}
		for _, v := range job.Spec.Template.Spec.Volumes {
			volumes[v.Name] = true
		}
		c := &job.Spec.Template.Spec.Containers[0]
		mounted := false
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				t.Errorf("%s mounts %s, which is no volume", job.Name, m.Name)
			}
			mounted = mounted || m.MountPath == "/results"
		}
		if !mounted || len(c.Command) > 0 {
			t.Errorf("%s: results are not mounted, or there is a command in an image without shell", job.Name)
		}
	}
	if p := probe.Spec.Containers[0]; p.LivenessProbe.HTTPGet.Port.IntValue() != int(p.Ports[0].ContainerPort) {
		t.Error("the probe is asked on another port than it serves")
	}
}
