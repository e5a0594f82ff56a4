package paper

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/testing/models"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// A defaultsTask is a model on data, and a fleet. Add one to [defaultsTasks]; nothing else
// depends on which there are.
type defaultsTask struct {
	name        string // token, short
	data        string // directory of images, covtype, a9a or drawnDigits
	shrink      int    // of images, see data.Images.Shrink
	scale       scale
	hidden      []int   // units of an MLP; none: softmax regression
	dirichlet   float64 // concentration of each device's labels; 0: IID
	devices     int     // at most 10 of them take part in a round
	train, test int     // most rows of each kind
}

// defaultsTasks have 170 to 9,946 parameters. No constant of a preset was fitted to them.
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

func (t *defaultsTask) model() string {
	if t.hidden == nil {
		return "softmax"
	}
	return "MLP"
}

func (t *defaultsTask) split() string {
	if t.dirichlet > 0 {
		return fmt.Sprint("Dirichlet ", t.dirichlet)
	}
	return "IID"
}

// A defaultsBench is a task that is ready to train.
type defaultsBench struct {
	defaultsTask
	drawn    bool // the data
	labels   []uint8
	task     run.Task
	segments []wire.Segment // of an MLP
}

func (e *Env) bench(t defaultsTask) (*defaultsBench, error) {
	train, test, drawn, err := e.rows(&t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.name, err)
	}
	model := models.NewNet(train, t.hidden...)
	b := &defaultsBench{defaultsTask: t, drawn: drawn, labels: train.Labels,
		task: run.Classifier(model, models.NewNet(test, t.hidden...), 2)}
	if t.hidden != nil {
		b.segments = segmentsOf(model)
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
