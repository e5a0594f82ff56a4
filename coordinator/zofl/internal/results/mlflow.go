package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/zofl/zofl/coordinator/zofl/version"
	"github.com/zofl/zofl/plan/planfile"
)

// experiment is the name of the experiment that runs belong to.
const experiment = "zofl"

// Numbers with which MLflow's store encodes words of its API.
const (
	sourceLocal    = 4 // SourceType.LOCAL
	statusRunning  = 1 // RunStatus.RUNNING
	statusFinished = 3 // RunStatus.FINISHED
)

// mostParam is the longest value of a parameter that MLflow takes.
const mostParam = 6000

// MLflow writes a run to MLflow's file store: DIR/EXPERIMENT/RUN with meta.yaml, metrics, params
// and tags. If MLflow writes the same run again, the new files replace the earlier ones. A step in
// MLflow is a record.
func (r *Run) MLflow(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	began, last := r.Points[0].Time.UnixMilli(), r.Points[len(r.Points)-1].Time.UnixMilli()
	home, id, err := mlflowExperiment(dir, began)
	if err != nil {
		return err
	}
	plan, err := json.Marshal((*planfile.Plan)(&r.Plan))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(plan)
	run := hex.EncodeToString(sum[:16]) // a plan has the run's key, so two runs have different names
	place := filepath.Join(home, run)
	if err := os.RemoveAll(place); err != nil {
		return err
	}
	for _, part := range []string{"artifacts", "metrics", "params", "tags"} {
		if err := os.MkdirAll(filepath.Join(place, part), 0o755); err != nil {
			return err
		}
	}
	status, end := statusFinished, any(last)
	if r.Ended == "" {
		status, end = statusRunning, nil
	}
	if err := store(filepath.Join(place, "meta.yaml"), yaml([]setting{
		{"artifact_uri", uri(filepath.Join(place, "artifacts"))}, {"end_time", end},
		{"entry_point_name", ""}, {"experiment_id", id}, {"lifecycle_stage", "active"},
		{"run_id", run}, {"run_name", r.Plan.Run}, {"run_uuid", run}, {"source_name", ""},
		{"source_type", sourceLocal}, {"source_version", ""}, {"start_time", began},
		{"status", status}, {"tags", []string{}}, {"user_id", "zofl"},
	})); err != nil {
		return err
	}
	return r.mlflowFiles(place)
}

// mlflowExperiment returns the directory of the experiment of all runs, and its number. It makes
// the directory if it does not exist.
func mlflowExperiment(dir string, began int64) (home, id string, err error) {
	sum := sha256.Sum256([]byte(experiment))
	id = fmt.Sprintf("%018d", binary.BigEndian.Uint64(sum[:])%1e18)
	home = filepath.Join(dir, id)
	meta := filepath.Join(home, "meta.yaml")
	if _, err := os.Stat(meta); err == nil {
		return home, id, nil
	}
	return home, id, store(meta, yaml([]setting{
		{"artifact_location", uri(home)}, {"creation_time", began}, {"experiment_id", id},
		{"last_update_time", began}, {"lifecycle_stage", "active"}, {"name", experiment},
	}))
}

func uri(dir string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(dir)}).String()
}

// mlflowFiles writes each metric, parameter and tag of a run to a file of its own, with the same
// name.
func (r *Run) mlflowFiles(place string) error {
	metrics := map[string]*strings.Builder{}
	for i := range r.Points {
		p := &r.Points[i]
		for _, s := range scalars(p) {
			name := fileName(s.Tag)
			if metrics[name] == nil {
				metrics[name] = &strings.Builder{}
			}
			fmt.Fprintf(metrics[name], "%d %v %d\n", p.Time.UnixMilli(), s.Value, p.N)
		}
	}
	for name, lines := range metrics {
		if err := store(filepath.Join(place, "metrics", name), lines.String()); err != nil {
			return err
		}
	}
	values, err := valuesOf(&r.Plan)
	if err != nil {
		return err
	}
	for name, value := range values {
		value = strings.Trim(value, `"`)
		if len(value) > mostParam {
			value = value[:mostParam-1] + "…"
		}
		if err := store(filepath.Join(place, "params", name), value); err != nil {
			return err
		}
	}
	for name, value := range map[string]string{"mlflow.runName": r.Plan.Run, "mlflow.user": "zofl",
		"mlflow.source.name": "zofl", "mlflow.source.type": "LOCAL", "zofl.version": version.String(),
		"zofl.state": r.State(), "zofl.hash": r.Hash} {
		if err := store(filepath.Join(place, "tags", name), value); err != nil {
			return err
		}
	}
	return nil
}

// fileName turns a name into one that MLflow accepts for a metric, with letters, digits, and some
// marks. Each slash in the name makes a folder.
func fileName(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = strings.Map(func(r rune) rune {
			if r == '-' || r == '_' || r == '.' || r == ' ' || '0' <= r && r <= '9' ||
				'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
				return r
			}
			return '_'
		}, part)
		if strings.Trim(parts[i], ".") == "" {
			parts[i] = "_"
		}
	}
	return filepath.Join(parts...)
}

// A setting is a line of a meta.yaml.
type setting struct {
	name  string
	value any
}

// yaml returns settings as YAML. yaml writes values as JSON, which YAML includes.
func yaml(settings []setting) string {
	var out strings.Builder
	for _, s := range settings {
		value, err := json.Marshal(s.value)
		if err != nil {
			panic(err) // texts, numbers and an empty list
		}
		fmt.Fprintf(&out, "%s: %s\n", s.name, value)
	}
	return out.String()
}

func store(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644)
}
