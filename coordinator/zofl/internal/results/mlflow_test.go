package results

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// ask is a program that prints what MLflow's own client reads in a store.
const ask = `
import json, sys
import mlflow
client = mlflow.MlflowClient("file://" + sys.argv[1])
(experiment,) = [e for e in client.search_experiments() if e.name == "zofl"]
(run,) = client.search_runs([experiment.experiment_id])
history = client.get_metric_history(run.info.run_id, "metrics/accuracy")
print(json.dumps({"name": run.info.run_name, "status": run.info.status,
    "dim": run.data.params["dim"], "state": run.data.tags["zofl.state"],
    "accuracy": run.data.metrics["metrics/accuracy"], "points": len(history),
    "step": history[-1].step}))
`

// TestMLflowReads: MLflow reads the written files. The test needs a Python with mlflow or
// mlflow-skinny, named by ZOFL_MLFLOW.
func TestMLflowReads(t *testing.T) {
	python := os.Getenv("ZOFL_MLFLOW")
	if python == "" {
		t.Skip("ZOFL_MLFLOW is not set: give it a Python that has mlflow")
	}
	r, dir := sample(t, "kitchen", 0.02), t.TempDir()
	if err := r.MLflow(dir); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-c", ask, dir)
	cmd.Env = append(os.Environ(), "MLFLOW_ALLOW_FILE_STORE=true")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name, Status, Dim, State string
		Accuracy                 float64
		Points                   int
		Step                     uint64
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.Name != "kitchen" || got.Status != "FINISHED" || got.Dim != "10" ||
		got.State != r.State() || got.Accuracy != 0.4 || got.Points != len(r.Points) || got.Step != 27 {
		t.Errorf("MLflow reads %s", out)
	}
}
