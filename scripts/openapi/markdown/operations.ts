import { cell, code, fenced, placeOf, table, typeOf, valuesOf } from './cells.ts'
import type { Description, Operation, Parameter, Response } from './document.ts'

/** Renders the routes: their parameters, responses and sample programs. */
export function operationsChapter({ paths }: Description): string {
  return Object.entries(paths)
    .map(([path, { get }]) => operationPart(path, get))
    .join('\n\n')
}

function operationPart(path: string, operation: Operation): string {
  const { summary, description, deprecated, parameters, responses } = operation
  return [
    `## GET ${path}`,
    `**${summary}** (\`${operation.operationId}\`${deprecated ? ', descontinuada' : ''}). ${description}`,
    '**Parâmetros**',
    table(['nome', 'onde', 'tipo', 'o que faz'], parameters.map(parameterRow)),
    ...Object.entries(responses).map(([status, response]) => responsePart(status, response)),
    ...operation['x-codeSamples'].map(
      ({ lang, label, source }) => `**Exemplo em ${label}**\n\n\`\`\`${lang}\n${source}\`\`\``,
    ),
  ].join('\n\n')
}

export function parameterRow(parameter: Parameter) {
  const { name, required, description, schema, example } = parameter
  const shown = example === undefined ? '' : `Exemplo: ${code([example].flat().join(','))}.`
  const text = [description, schema.items ? valuesOf(schema) : '', shown].filter(Boolean)
  const needed = required ? ', obrigatório' : ''
  return [
    `\`${name}\``,
    `${placeOf(parameter)}${needed}`,
    cell(typeOf(schema)),
    cell(text.join('\n')),
  ]
}

function responsePart(
  status: string,
  { description, headers = {}, content = {} }: Response,
): string {
  const rows = Object.entries(headers).map(([name, header]) => [
    `\`${name}\`${header.required ? '' : ' (nem sempre presente)'}`,
    cell(typeOf(header.schema)),
    cell(header.description),
  ])
  const bodies = Object.values(content).flatMap(({ schema, examples = {} }) => [
    `Corpo: ${typeOf(schema)}.`,
    ...Object.values(examples).flatMap(({ summary, value }) => [
      ...(summary === undefined ? [] : [`**Exemplo: ${summary}**`]),
      fenced(value),
    ]),
  ])
  return [
    `**Resposta ${status}.** ${description}`,
    table(['cabeçalho', 'tipo', 'o que diz'], rows),
    ...bodies,
  ].join('\n\n')
}
