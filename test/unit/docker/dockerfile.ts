import { readFileSync } from 'node:fs'

export interface Instruction {
  keyword: string
  argument: string
}

export interface Stage {
  base: string
  name: string | undefined
  instructions: Instruction[]
}

const FROM = /^(?<base>\S+)(?: AS (?<name>\S+))?$/

export const stages: Stage[] = []
for (const { keyword, argument } of readInstructions()) {
  const { base = '', name } = (keyword === 'FROM' && FROM.exec(argument)?.groups) || {}
  if (keyword === 'FROM') stages.push({ base, name, instructions: [] })
  else stages.at(-1)?.instructions.push({ keyword, argument })
}

/** The instructions of the final image: the last stage, after its base stages. */
export const image: Instruction[] = lineage(stages.at(-1))

export function argumentsOf(keyword: string, instructions = image): string[] {
  return instructions.flatMap((one) => (one.keyword === keyword ? [one.argument] : []))
}

/** The variables that the image sets. */
export const imageEnvironment: Record<string, string> = Object.fromEntries(
  argumentsOf('ENV').flatMap((pairs) => pairs.split(' ').map((pair) => pair.split('='))),
)

/** A full version with an optional base name: no `latest`, no bare major. */
export const PINNED = /:v?\d+\.\d+\.\d+(-[a-z][a-z0-9.-]*)?(@sha256:[0-9a-f]{64})?$/

function readInstructions(): Instruction[] {
  const file = new URL('../../../docker/Dockerfile', import.meta.url)
  return readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [keyword = '', ...argument] = line.split(' ')
      return { keyword, argument: argument.join(' ') }
    })
}

function lineage(stage: Stage | undefined): Instruction[] {
  if (stage === undefined) return []
  const parent = stages.find(({ name }) => name === stage.base)
  return [...lineage(parent), ...stage.instructions]
}
