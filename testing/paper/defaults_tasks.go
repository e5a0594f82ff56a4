package paper

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/testing/models"
	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// defaultsTasks have 170 to 9,946 parameters. No constant of a preset was fitted to them. Add one
// here: nothing else depends on which there are.
func defaultsTasks() []defaultsTask {
	list := []defaultsTask{
		{name: "mnist-softmax", data: "mnist", scale: unit, devices: 10},
		{name: "mnist-mlp", data: "mnist", shrink: 2, scale: standardized, hidden: []int{48},
			devices: 20},
		{name: "fashion-softmax", data: "fashion-mnist", shrink: 2, scale: sixteen, dirichlet: 0.3,
			devices: 8},
		{name: "fashion-mlp", data: "fashion-mnist", shrink: 2, scale: unit, hidden: []int{32},
			dirichlet: 0.3, devices: 10},
		{name: "covtype-softmax", data: "covtype", scale: unit, dirichlet: 0.3, devices: 5},
		{name: "covtype-mlp", data: "covtype", scale: standardized, hidden: []int{16}, devices: 12},
		{name: "a9a-softmax", data: "a9a", scale: unit, devices: 20},
		{name: "digits-softmax", data: drawnDigits, shrink: 7, scale: sixteen, dirichlet: 0.3,
			devices: 3},
	}
	for i := range list {
		list[i].train, list[i].test = 4000, 5000
	}
	return list
}

// A defaultsBench is a task that is ready to train.
type defaultsBench struct {
	defaultsTask
	drawn    bool // the data
	labels   []uint8
	task     run.Task
	segments []wire.Segment // of an MLP
}

func newBench(e *lab.Env, t defaultsTask) (*defaultsBench, error) {
	train, test, drawn, err := t.rows(e)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	model := models.NewNet(train, t.hidden...)
	b := &defaultsBench{defaultsTask: t, drawn: drawn, labels: train.Labels,
		task: run.Classifier(model, models.NewNet(test, t.hidden...), 2)}
	if t.hidden != nil {
		b.segments = lab.Segments(model)
	}
	return b, nil
}

// deal deals the rows to devices, whose number a preset may fix.
func (b *defaultsBench) deal(devices int, seed uint64) ([][]int, error) {
	if b.dirichlet > 0 && devices > 1 {
		return data.Dirichlet(b.labels, devices, b.dirichlet, seed)
	}
	return data.IID(len(b.labels), devices, seed)
}
