package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// Distribution is how much of something the largest holders have: the largest one, the ten
// largest, and so on. Ten times as many are as far to the right, wherever one begins.
type Distribution struct {
	// ID is unique on the page: other elements refer to it.
	ID string
	// Title says what is shown and Description what there is to see; the shares of the
	// first few are added to it.
	Title, Description string
	// Of is who they are, such as "holders".
	Of    string
	Ranks []Rank
}

// Rank is what the first so many have together.
type Rank struct {
	First int64
	// Percent is an exact decimal up to 100. It is empty where it is not known.
	Percent string
}

const (
	// spoken is how many shares are said in words, and dotted how many points have a dot
	// that can be told from the next.
	spoken, dotted = 4, 24
)

// HTML draws the curve, with its numbers. A dot is a share that is known; between them the
// curve leads from one to the next.
func (c Distribution) HTML() (template.HTML, error) {
	var points []Point
	before := 0.0
	for i, r := range c.Ranks {
		share, err := heightOf(r.Percent)
		if err != nil {
			return "", err
		}
		if r.First < 1 || i > 0 && r.First <= c.Ranks[i-1].First {
			return "", fmt.Errorf("chart: rank %d is out of order", r.First)
		}
		if share > 100 || share < before {
			return "", fmt.Errorf("chart: the first %d have %s percent, after %v", r.First, r.Percent, before)
		}
		if !math.IsNaN(share) {
			before = share
		}
		points = append(points, Point{At: math.Log(float64(r.First)), Label: grouped(strconv.FormatInt(r.First, 10)), Value: r.Percent})
	}
	return curve{ID: c.ID, Title: c.Title, Description: c.Description, Axis: "The largest " + cmp.Or(c.Of, "holders"), Unit: "%",
		words: c.inWords(), top: 100, dotted: len(points) <= dotted}.html(points)
}

// inWords says the first shares that are known of one, ten, a hundred and so on.
func (c Distribution) inWords() string {
	var words []string
	for _, r := range c.Ranks {
		many := strconv.FormatInt(r.First, 10)
		if r.Percent == "" || strings.TrimRight(many, "0") != "1" || len(words) == spoken {
			continue
		}
		if r.First == 1 {
			words = append(words, "the largest has "+exact(r.Percent, "%"))
		} else {
			words = append(words, "the "+grouped(many)+" largest have "+exact(r.Percent, "%"))
		}
	}
	if len(words) == 0 {
		return notSaid
	}
	return "Of all, " + strings.Join(words, ", ") + "."
}

// notSaid is what is said where no share of a round number is known.
const notSaid = "The shares are in the table."
