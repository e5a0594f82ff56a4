package blackbox

import (
	"cmp"
	"context"
	"fmt"

	"github.com/zofl/zofl/coordinator/zofl/data"
)

// attackSide is half the side of the box: the largest change of a pixel, where a pixel of full
// ink is 1.
const attackSide = 0.3

// An AttackConfig says which models are attacked, and on which images.
type AttackConfig struct {
	Portion float64 // P: part of the classes that a model knows; 0 is 1
	Clients int     // N, one model each; 0 is 10
	Images  int     // number of images attacked, one after another; 0 is 15
	// OnAverage chooses images whose mean margin over the models is positive, as the paper's code
	// does, instead of images that every model classifies correctly. With OnAverage, [NewAttack]
	// draws the classes only once. See the package doc.
	OnAverage bool
	Models    uint64 // seed of the class draws
	Seed      uint64 // of the choice of images
	Epochs    int    // of each model's training; 0 is 4
	// Cache is the directory for trained models; empty: zofl/blackbox in the user's cache
	// directory.
	Cache      string
	Goroutines int                              // goroutines that train; 0 is 1
	Logf       func(format string, args ...any) // called with progress; nil: nobody is told
}

// An Attack holds N classifiers, each trained on some of the classes, and the images that a
// client perturbs so that the classifiers misclassify them.
type Attack struct {
	nets    []*net
	sets    []classSet
	targets []*Target
}

// NewAttack trains the models on train, or reads them from the cache, and chooses images of
// test. Both sets have 28x28 pixels and ten classes, like MNIST.
func NewAttack(ctx context.Context, train, test *data.Images, c AttackConfig) (*Attack, error) {
	c.Portion = cmp.Or(c.Portion, 1)
	c.Clients, c.Images, c.Epochs = or(c.Clients, 10), or(c.Images, 15), or(c.Epochs, 4)
	if c.Clients < 1 || c.Images < 1 || c.Epochs < 1 {
		return nil, fmt.Errorf("blackbox: Clients %d, Images %d, Epochs %d: none may be negative",
			c.Clients, c.Images, c.Epochs)
	}
	for _, im := range []*data.Images{train, test} {
		if im.Rows != side || im.Cols != side || im.Classes != classes {
			return nil, fmt.Errorf("blackbox: images of %dx%d in %d classes: take MNIST, or a "+
				"set of %dx%d in %d",
				im.Rows, im.Cols, im.Classes, side, side, classes)
		}
	}
	a := &Attack{}
	if err := a.draw(c); err != nil {
		return nil, err
	}
	if err := a.train(ctx, train, c); err != nil {
		return nil, err
	}
	return a, a.choose(test, c)
}

// draw draws, for each model, the classes on which NewAttack trains the model.
func (a *Attack) draw(c AttackConfig) error {
	n, err := portion(c.Portion, classes)
	if err != nil {
		return err
	}
	a.sets = make([]classSet, c.Clients)
	rng := stream(c.Models, forClasses)
	if !c.OnAverage {
		return drawSharing(rng, n, classes, a.sets)
	}
	for i := range a.sets {
		a.sets[i] = drawSet(rng, n, classes)
	}
	return nil
}

// choose chooses the images to attack.
func (a *Attack) choose(test *data.Images, c AttackConfig) error {
	shared := ^classSet(0)
	for _, s := range a.sets {
		shared &= s
	}
	zero := make([]float32, pixels)
	for _, i := range stream(c.Seed, forRows).Perm(test.Len()) {
		if !c.OnAverage && !shared.has(test.Labels[i]) {
			continue
		}
		t := newTarget(a, test, i)
		if t.right(zero, c.OnAverage) {
			a.targets = append(a.targets, t)
		}
		if len(a.targets) == c.Images {
			return nil
		}
	}
	return fmt.Errorf("blackbox: of %d test images the models are right on %d, not %d: train "+
		"for more Epochs than %d, or take fewer Images",
		test.Len(), len(a.targets), c.Images, c.Epochs)
}

// Len returns the number of images.
func (a *Attack) Len() int { return len(a.targets) }

// Target returns the attack on image k.
func (a *Attack) Target(k int) *Target { return a.targets[k] }

// Classes returns the classes on which model i was trained, in order.
func (a *Attack) Classes(i int) []int { return a.sets[i].list() }

// or returns v, or zero if v is 0.
func or(v, zero int) int {
	if v == 0 {
		return zero
	}
	return v
}
