package paper

import "fmt"

// A defaultsTask is a model on data, and a fleet.
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

// key is what names of saved runs have a digest of. It never changes, so that runs of older
// versions are found.
func (t *defaultsTask) key() string {
	return fmt.Sprintf("{name:%s data:%s shrink:%d scale:%s hidden:%v dirichlet:%v devices:%d "+
		"train:%d test:%d}", t.name, t.data, t.shrink, t.scale, t.hidden, t.dirichlet, t.devices,
		t.train, t.test)
}
