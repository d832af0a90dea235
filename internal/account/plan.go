package account

import (
	"fmt"
	"strings"
)

// Plan is what a workspace has subscribed to.
type Plan string

// The plans.
const (
	Free       Plan = "free"
	Developer  Plan = "developer"
	Growth     Plan = "growth"
	Business   Plan = "business"
	Enterprise Plan = "enterprise"
	Wallet     Plan = "wallet"
)

// Policy is how fast a key may ask, and how many a workspace may have.
type Policy struct {
	PolicyKey         string `json:"policyKey"`
	PolicyDisplayName string `json:"policyDisplayName"`
	LightPerMinute    int    `json:"lightPerMinute"`
	HeavyPerMinute    int    `json:"heavyPerMinute"`
	BatchPerMinute    int    `json:"batchPerMinute"`
	Burst             int    `json:"burst"`
	MaxActiveKeys     int    `json:"maxActiveKeys"`
}

// plans lists them all, cheapest first.
var plans = []struct {
	plan   Plan
	policy Policy
}{
	{Free, Policy{"free", "Free", 120, 30, 10, 20, 5}},
	{Developer, Policy{"developer", "Developer", 600, 150, 60, 60, 10}},
	{Growth, Policy{"growth", "Growth", 3_000, 750, 300, 200, 25}},
	{Business, Policy{"business", "Business", 12_000, 3_000, 1_200, 600, 50}},
	{Enterprise, Policy{"enterprise", "Enterprise", 60_000, 15_000, 6_000, 3_000, 200}},
	{Wallet, Policy{"wallet", "Wallet", 6_000, 1_500, 600, 400, 50}},
}

// PlanNames lists every plan there is.
func PlanNames() []string {
	names := make([]string, 0, len(plans))
	for _, p := range plans {
		names = append(names, string(p.plan))
	}
	return names
}

// ParsePlan refuses names that it does not know.
func ParsePlan(name string) (Plan, error) {
	for _, p := range plans {
		if name == string(p.plan) {
			return p.plan, nil
		}
	}
	return "", &InvalidError{Field: "plan", Reason: fmt.Sprintf("%.32q is none of %s", name, strings.Join(PlanNames(), ", "))}
}

// Policy is the plan's own. An unknown plan gets the smallest one.
func (p Plan) Policy() Policy {
	for _, known := range plans {
		if p == known.plan {
			return known.policy
		}
	}
	return plans[0].policy
}

// Limits replace the plan's numbers for one key. Zero leaves the plan's.
type Limits struct {
	LightPerMinute, HeavyPerMinute, BatchPerMinute, Burst int
}

// with is the policy of a key that has its own limits.
func (p Policy) with(l Limits) Policy {
	if l == (Limits{}) {
		return p
	}
	p.PolicyKey += "_custom"
	p.PolicyDisplayName += " (custom)"
	for _, f := range []struct {
		to   *int
		from int
	}{
		{&p.LightPerMinute, l.LightPerMinute}, {&p.HeavyPerMinute, l.HeavyPerMinute},
		{&p.BatchPerMinute, l.BatchPerMinute}, {&p.Burst, l.Burst},
	} {
		if f.from != 0 {
			*f.to = f.from
		}
	}
	return p
}

const maxLimit = 1_000_000_000

func (l Limits) check() error {
	for _, n := range []int{l.LightPerMinute, l.HeavyPerMinute, l.BatchPerMinute, l.Burst} {
		if n < 0 || n > maxLimit {
			return &InvalidError{Field: "limits", Reason: fmt.Sprintf("each must be 1 to %d, or 0 for the plan's own", maxLimit)}
		}
	}
	return nil
}
