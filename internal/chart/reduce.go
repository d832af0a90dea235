package chart

import (
	"fmt"
	"math"
	"slices"
)

const (
	// most is how many points are drawn. Of them a stretch keeps up to extremes, or
	// withGaps where not all are known.
	most, extremes, withGaps = 240, 2, 5
)

// series is points with their heights, which are not numbers where they are not known.
type series struct {
	points  []Point
	heights []float64
	// given is how many points there were before they were made fewer.
	given int
}

// seriesOf reads points and leaves as many as can be told apart.
func seriesOf(points []Point) (series, error) {
	s := series{points, make([]float64, len(points)), len(points)}
	for i, p := range points {
		h, err := heightOf(p.Value)
		if err != nil {
			return series{}, err
		}
		if math.IsNaN(p.At) || math.IsInf(p.At, 0) || i > 0 && p.At < points[i-1].At {
			return series{}, fmt.Errorf("chart: the point at %v is out of order", p.At)
		}
		s.heights[i] = h
	}
	if len(points) > most {
		s = s.reduced()
	}
	return s, nil
}

// reduced keeps of each stretch its lowest and its highest value. Of what is not known
// it keeps where it begins, and where it follows a value that is kept: a value never
// seems to hold for longer than it is known to.
func (s series) reduced() series {
	stretches := (most - 2) / extremes
	if len(s.unknownFrom(0, len(s.points))) > 0 {
		stretches = (most - 2) / withGaps
	}
	keep := []int{0, len(s.points) - 1}
	for n := range stretches {
		from, to := n*len(s.points)/stretches, (n+1)*len(s.points)/stretches
		lowest, highest := -1, -1
		for i := from; i < to; i++ {
			if h := s.heights[i]; math.IsNaN(h) {
				continue
			} else if lowest < 0 {
				lowest, highest = i, i
			} else if h < s.heights[lowest] {
				lowest = i
			} else if h > s.heights[highest] {
				highest = i
			}
		}
		keep = append(keep, s.unknownFrom(from, to)...)
		if lowest >= 0 {
			keep = append(keep, lowest, highest)
			keep = append(keep, s.unknownFrom(lowest, to)...)
			keep = append(keep, s.unknownFrom(highest, to)...)
		}
	}
	slices.Sort(keep)
	few := series{given: s.given}
	for _, i := range slices.Compact(keep) {
		few.points, few.heights = append(few.points, s.points[i]), append(few.heights, s.heights[i])
	}
	return few
}

// unknownFrom finds the first point of a stretch that is not known.
func (s series) unknownFrom(from, to int) []int {
	for i := from; i < to; i++ {
		if math.IsNaN(s.heights[i]) {
			return []int{i}
		}
	}
	return nil
}

// extremes are the lowest, the highest and the last point that are known, if any is.
func (s series) extremes() (lowest, highest, last int, unknown int) {
	lowest, highest, last = -1, -1, -1
	for i, h := range s.heights {
		if math.IsNaN(h) {
			unknown++
			continue
		}
		if lowest < 0 || h < s.heights[lowest] {
			lowest = i
		}
		if highest < 0 || h > s.heights[highest] {
			highest = i
		}
		last = i
	}
	return lowest, highest, last, unknown
}

// inWords says what a curve shows.
func (s series) inWords(unit string) string {
	lowest, highest, last, unknown := s.extremes()
	if lowest < 0 {
		return "No value is known."
	}
	text := fmt.Sprintf("Lowest %s, highest %s, last known %s", exact(s.points[lowest].Value, unit), exact(s.points[highest].Value, unit), exact(s.points[last].Value, unit))
	if at := s.points[last].title(); at != "" {
		text += " (" + at + ")"
	}
	text += "."
	if unknown > 0 {
		text += " Where nothing is drawn, the value is not known."
	}
	if s.given > len(s.points) {
		text += fmt.Sprintf(" Drawn are %d of %s values: the lowest and the highest of each stretch.", len(s.points), grouped(fmt.Sprint(s.given)))
	}
	return text
}

func (s series) table(title, axis, unit string) Table {
	t := Table{Title: title, Head: []string{axis, unit}}
	for _, p := range s.points {
		t.Rows = append(t.Rows, []string{p.title(), exact(p.Value, "")})
	}
	return t
}
