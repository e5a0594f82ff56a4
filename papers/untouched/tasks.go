package untouched

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/papers/tasks"
	"github.com/zofl/zofl/plan"
)

// eightTasks have 170 to 9,946 parameters. No constant of a preset was tuned on these tasks. To
// add a task, add it here: no other code depends on the list.
func eightTasks() []tasks.Task {
	list := []tasks.Task{
		{Name: "mnist-softmax", Data: "mnist", Scale: tasks.Unit, Devices: 10},
		{Name: "mnist-mlp", Data: "mnist", Shrink: 2, Scale: tasks.Standardized, Hidden: []int{48},
			Devices: 20},
		{Name: "fashion-softmax", Data: "fashion-mnist", Shrink: 2, Scale: tasks.Sixteen, Dirichlet: 0.3,
			Devices: 8},
		{Name: "fashion-mlp", Data: "fashion-mnist", Shrink: 2, Scale: tasks.Unit, Hidden: []int{32},
			Dirichlet: 0.3, Devices: 10},
		{Name: "covtype-softmax", Data: "covtype", Scale: tasks.Unit, Dirichlet: 0.3, Devices: 5},
		{Name: "covtype-mlp", Data: "covtype", Scale: tasks.Standardized, Hidden: []int{16}, Devices: 12},
		{Name: "a9a-softmax", Data: "a9a", Scale: tasks.Unit, Devices: 20},
		{Name: "digits-softmax", Data: tasks.Drawn, Shrink: 7, Scale: tasks.Sixteen, Dirichlet: 0.3,
			Devices: 3},
	}
	for i := range list {
		list[i].Train, list[i].Test = 4000, 5000
	}
	return list
}

// A bench is a task that is ready to train.
type bench struct {
	tasks.Task
	drawn    bool          // the data
	rows     *tables.Table // for training
	labels   []uint8       // of rows
	model    *models.Net
	task     run.Task
	segments []plan.Segment // of an MLP
}

func newBench(e *lab.Env, t tasks.Task) (*bench, error) {
	train, test, drawn, err := t.Rows(e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	return benchOf(t, train, test, drawn), nil
}

// benchOf returns a task on these rows.
func benchOf(t tasks.Task, train, test *tables.Table, drawn bool) *bench {
	model := models.NewNet(train, t.Hidden...)
	b := &bench{Task: t, drawn: drawn, rows: train, labels: train.Labels, model: model,
		task: run.Classifier(model, models.NewNet(test, t.Hidden...), 2)}
	if t.Hidden != nil {
		b.segments = lab.Segments(model)
	}
	return b
}

// deal deals the rows to devices. A preset may fix the number of devices.
func (b *bench) deal(devices int, seed uint64) ([][]int, error) {
	if b.Dirichlet > 0 && devices > 1 {
		return data.Dirichlet(b.labels, devices, b.Dirichlet, seed)
	}
	return data.IID(len(b.labels), devices, seed)
}
