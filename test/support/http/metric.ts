/** The value of a series in a Prometheus exposition, labels in braces; NaN where there is none. */
export function metricIn(exposition: string, series: string): number {
  const line = exposition.split('\n').find((one) => one.startsWith(`${series} `))
  return Number(line?.slice(series.length + 1) ?? Number.NaN)
}
