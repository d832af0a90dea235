package chart_test

import (
	"fmt"
	"testing"

	"chainexplorer/internal/chart"
)

// BenchmarkCharts is of the gallery, and of a curve with as many points as are drawn.
func BenchmarkCharts(b *testing.B) {
	for i, d := range append(gallery(), chart.Area{ID: "a", Points: points(240, wave)}) {
		html, err := d.HTML()
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("%d %T", i, d), func(b *testing.B) {
			for b.Loop() {
				if _, err := d.HTML(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(html)), "bytes")
		})
	}
}
