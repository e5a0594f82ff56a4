package eavesdrop

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/papers/lab"
)

// claims judges the findings of the arms that ran.
func (x *trial) claims(found map[string][]score) {
	c := claims{x.Report, found}
	c.told("who knows the run key learns single devices' labels from their scalars",
		above, "own", "groups", "shared")
	// What hides must hide for a whole run: each round tells more.
	x.Report.Needs(x.rounds, usualRounds, "rounds")
	c.told("fewer bits hide labels", below, "int8", "int4")
	c.told("noise by the devices hides labels from all", below, "device-2", "device-4", "device-8")
	c.sum("the sum of all devices tells nothing of a single one", "shared")
	c.sum("the sum of changing devices tells nothing of a single one", "shared-10")
	c.alike("a secret and shared directions hide whose data are alike", "secret")
	c.alike("a secret and own directions hide whose data are alike", "secret-own")
	for _, noisy := range []string{"device", "coordinator"} {
		c.price(fmt.Sprintf("20 devices: noise by the %s at epsilon 8 costs at most 0.05", noisy),
			"shared", noisy+"-8")
		c.price(fmt.Sprintf("1,000 devices: noise by the %s at epsilon 2 costs at most 0.05", noisy),
			"crowd-none", "crowd-"+noisy+"-2")
	}
}

// claims judges scores by arm.
type claims struct {
	report *lab.Report
	found  map[string][]score
}

// Limits of a correlation: above which it reveals a device's labels, and below which it does not.
const (
	tells  = 0.9
	silent = 0.3
)

func above(v float64) bool { return v >= tells }
func below(v float64) bool { return v <= silent }

// mean returns the mean of a figure over an arm's seeds.
func (c *claims) mean(arm string, figure func(*score) float64) float64 {
	return lab.Mean(lab.Each(c.found[arm], func(s score) float64 { return figure(&s) }))
}

// told adds the claim that holds is true for the correlation of labels that the first view of
// each arm reveals.
func (c *claims) told(claim string, holds func(float64) bool, arms ...string) {
	all, figures := true, []string{}
	for _, arm := range arms {
		if c.found[arm] == nil {
			continue
		}
		v := c.mean(arm, func(s *score) float64 { return s.Views[0].All })
		all = all && holds(v)
		figures = append(figures, fmt.Sprintf("%s %.3f", arm, v))
	}
	if len(figures) > 0 {
		c.report.Claim(all, claim, "correlation %s", strings.Join(figures, ", "))
	}
}

// sum compares what the sum reveals about each device with what the fleet's mean histogram reveals.
func (c *claims) sum(claim, arm string) {
	if c.found[arm] == nil {
		return
	}
	got := c.mean(arm, func(s *score) float64 { return s.Views[1].All })
	fleet := c.mean(arm, func(s *score) float64 { return s.Fleet })
	c.report.Claim(got <= fleet+0.05, claim, "correlation %.3f, of the fleet's labels %.3f", got,
		fleet)
}

// alike judges what an observer learns without the run key.
func (c *claims) alike(claim, arm string) {
	if c.found[arm] == nil {
		return
	}
	scalars := c.mean(arm, func(s *score) float64 { return s.Views[0].Scalars })
	losses := c.mean(arm, func(s *score) float64 { return s.Views[0].Losses })
	c.report.Claim(max(scalars, losses) <= 0.6, claim, "AUC %.3f by scalars, %.3f by losses",
		scalars, losses)
}

// price compares the accuracies of two arms, one without and one with noise.
func (c *claims) price(claim, plain, noisy string) {
	if c.found[plain] == nil || c.found[noisy] == nil {
		return
	}
	accuracy := func(s *score) float64 { return s.Accuracy }
	without, with := c.mean(plain, accuracy), c.mean(noisy, accuracy)
	c.report.Claim(with >= without-0.05, claim, "accuracy %.4f, without noise %.4f", with, without)
}
