package kernel

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the API's counters for Prometheus.
type Metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	kept     prometheus.Counter
	draws    *prometheus.CounterVec
	written  prometheus.Counter // documents
}

// NewMetrics makes the metrics and registers them; a nil registerer leaves them
// unregistered.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_api_requests_total", Help: "Requests by operation and status.",
		}, []string{"operation", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "chainexplorer_api_request_seconds", Help: "Time to answer, by operation.",
			Buckets: prometheus.ExponentialBuckets(0.0002, 3, 10),
		}, []string{"operation"}),
		kept: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "chainexplorer_api_kept_answers_total", Help: "Requests answered from kept answers.",
		}),
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "chainexplorer_api_documents_written_total", Help: "Documents that were written, and not sent again as they were.",
		}),
		draws: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "chainexplorer_api_budget_draws_total", Help: "Parts of shared budgets asked for, by outcome; while they fail, each process counts on its own.",
		}, []string{"outcome"}),
	}
	if reg != nil {
		reg.MustRegister(m.requests, m.seconds, m.kept, m.written, m.draws)
	}
	return m
}

// routeMetrics are those of one operation, looked up once.
type routeMetrics struct {
	m         *Metrics
	operation string
	ok        prometheus.Counter // status 200
	seconds   prometheus.Observer
	timed     timed // what people are told of it
}

func (m *Metrics) of(operation string) *routeMetrics {
	return &routeMetrics{m, operation, m.requests.WithLabelValues(operation, strconv.Itoa(http.StatusOK)), m.seconds.WithLabelValues(operation), untimed}
}

// as says what people are told of how long it takes.
func (r *routeMetrics) as(kind timed) *routeMetrics {
	r.timed = kind
	return r
}

func (r *routeMetrics) observe(status int, took time.Duration) {
	if status == http.StatusOK {
		r.ok.Inc()
	} else {
		r.m.requests.WithLabelValues(r.operation, strconv.Itoa(status)).Inc()
	}
	r.seconds.Observe(took.Seconds())
}
