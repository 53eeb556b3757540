import { formatFigure } from '../../report.ts'

/** A figure of a run with the value that it should reach. */
export interface Target {
  name: string
  value: number
  atLeast?: number
  atMost?: number
}

/** A line for each figure; `!` marks those that miss their target. */
export function renderTargets(targets: readonly Target[]): string[] {
  return targets.map(({ name, value, atLeast, atMost }) => {
    const isMet = value >= (atLeast ?? -Infinity) && value <= (atMost ?? Infinity)
    const bounds = [
      ...(atLeast === undefined ? [] : [`at least ${atLeast}`]),
      ...(atMost === undefined ? [] : [`at most ${atMost}`]),
    ]
    return `${isMet ? ' ' : '!'} ${name}: ${formatFigure(value)} (target: ${bounds.join(', ')})`
  })
}
