package decomfl

// An officialRange is the lowest and the highest test accuracy of the seeds of an official
// run after a round.
type officialRange struct {
	round     uint64
	low, high float64
	seeds     int
}

// Runs of the official DeComFL code (revision 0c426e6) on two cores like those of these
// experiments, with torch 1.13 and seeds 365, 42 and 99. The official code has no softmax;
// there its linear layer started at zero.
var (
	officialSoftmax = []officialRange{ // K=1, P=10, batch 32, step 1e-3
		{50, .6775, .6996, 3}, {100, .7581, .7793, 3}, {200, .8129, .8304, 3},
		{500, .8549, .8603, 3}, {1000, .8734, .8785, 3},
	}
	officialCNN = []officialRange{ // K=1, P=10, batch 32, step 5e-4; later it diverges
		{20, .1497, .2600, 3}, {40, .3771, .4971, 3}, {60, .5060, .5718, 3}, {100, .6474, .7060, 3},
		{150, .7514, .7731, 3}, {200, .7855, .8160, 3},
	}
)

// The curves that the authors published with their code: MNIST, CNN, batch 256, accuracies
// after rounds 20, 40, 100, 240, 500 and 1000.
var publishedCNN = map[[2]uint32][]officialRange{ // by K and P
	{1, 20}: { // step 1e-3, seeds 233, 42, 99
		{20, .3122, .3379, 3}, {40, .5151, .6993, 3}, {60, .6968, .7657, 3}, {80, .7662, .8165, 3},
		{100, .8113, .8458, 3},
		{240, .8825, .9042, 3}, {500, .8919, .9280, 3}, {1000, .9146, .9442, 3},
	},
	{4, 20}: { // step 1e-3, seeds 111, 42, 99
		{20, .7500, .7910, 3}, {40, .8506, .8725, 3}, {100, .8776, .8984, 3},
		{240, .8981, .9264, 3}, {500, .9307, .9482, 3}, {1000, .9498, .9625, 3},
	},
	{10, 20}: { // step 1e-3, seeds 123, 42, 99
		{20, .8825, .8963, 3}, {40, .9014, .9100, 3}, {100, .9307, .9375, 3},
		{240, .9565, .9626, 3}, {500, .9623, .9686, 3}, {1000, .9675, .9762, 3},
	},
	{4, 10}: { // step 5e-4, seed 99
		{20, .7002, .7002, 1}, {40, .8177, .8177, 1}, {100, .9017, .9017, 1},
		{240, .9250, .9250, 1}, {500, .9409, .9409, 1}, {1000, .9546, .9546, 1},
	},
	{4, 40}: { // step 5e-4, seed 99
		{20, .7691, .7691, 1}, {40, .8491, .8491, 1}, {100, .9062, .9062, 1},
		{240, .9356, .9356, 1}, {500, .9611, .9611, 1}, {1000, .9734, .9734, 1},
	},
}

// officialTime is the duration of a round of the official code there: medians or means of
// steady rounds, in seconds. rest is everything except the forward pass; 0: unknown.
type officialTime struct{ round, rest float64 }

var (
	officialSoftmaxTime = officialTime{round: 0.095}
	officialCNNTime     = officialTime{round: 0.62, rest: 0.16} // batch 32, P=10
	officialBigTime     = officialTime{round: 6.1, rest: 0.39}  // batch 256, P=20
)
