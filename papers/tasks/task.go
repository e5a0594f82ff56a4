package tasks

import "fmt"

// A Task is a model on data, and a fleet.
type Task struct {
	Name        string // token, short
	Data        string // directory of images, covtype, a9a or Drawn
	Shrink      int    // of images, see data.Images.Shrink
	Scale       Scale
	Hidden      []int   // units of an MLP; none: softmax regression
	Dirichlet   float64 // concentration of each device's labels; 0: IID
	Devices     int     // at most 10 of them take part in a round
	Train, Test int     // most rows of each kind
}

// Model returns the name of the model in reports.
func (t *Task) Model() string {
	if t.Hidden == nil {
		return "softmax"
	}
	return "MLP"
}

// Split returns the name, in reports, of the way in which rows are dealt.
func (t *Task) Split() string {
	if t.Dirichlet > 0 {
		return fmt.Sprint("Dirichlet ", t.Dirichlet)
	}
	return "IID"
}

// Key returns the parts of the task whose digest the names of saved runs contain. Key never
// changes, so that this version finds runs that older versions saved.
func (t *Task) Key() string {
	return fmt.Sprintf("{name:%s data:%s shrink:%d scale:%s hidden:%v dirichlet:%v devices:%d "+
		"train:%d test:%d}", t.Name, t.Data, t.Shrink, t.Scale, t.Hidden, t.Dirichlet, t.Devices,
		t.Train, t.Test)
}
