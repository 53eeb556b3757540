import { typeOf } from '../markdown/cells.ts'
import type { PageOperation, Response } from '../markdown/document.ts'
import {
  codeBlock,
  definitions,
  details,
  escapeHtml,
  jsonBlock,
  renderInline,
  renderMarkdown,
} from './html.ts'
import { headerEntries, parameterEntry, schemaEntries } from './schemas.ts'
import type { Section } from './sections.ts'
import { tryForm } from './try-form.ts'

/** Every operation, with parameters, body, responses, samples and a form that calls it. */
export function operationSections(paths: Record<string, Record<string, PageOperation>>): Section {
  const children = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      title: `${method.toUpperCase()} ${path}`,
      content: operationContent(method.toUpperCase(), path, operation),
      children: [],
    })),
  )
  return { id: 'operacoes', title: 'Operações', content: '', children }
}

function operationContent(method: string, path: string, operation: PageOperation): string {
  const { summary, description, deprecated, parameters, requestBody, responses } = operation
  const samples = operation['x-codeSamples'] ?? []
  const bodies = Object.entries(requestBody?.content ?? {})
  return [
    renderMarkdown(`**${summary}${deprecated ? ' (descontinuada)' : ''}.** ${description}`),
    tryForm(method, path, operation),
    ...(samples.length > 0 ? ['<h4>Exemplos de chamada</h4>'] : []),
    ...samples.map(({ label, source }, index) =>
      details(
        escapeHtml(label),
        codeBlock(source),
        ` class="sample" name="${operation.operationId}"${index === 0 ? ' open' : ''}`,
      ),
    ),
    ...(parameters.length > 0
      ? ['<h4>Parâmetros</h4>', definitions(parameters.map(parameterEntry))]
      : []),
    ...bodies.flatMap(([type, { schema, example }]) => [
      `<h4>Corpo em <code>${type}</code></h4>`,
      schemaEntries(schema),
      jsonBlock(example),
    ]),
    '<h4>Respostas</h4>',
    ...Object.entries(responses).map(([status, response]) => responsePart(status, response)),
  ].join('\n')
}

export function responsePart(status: string, response: Response): string {
  const { description, headers = {}, content = {} } = response
  const bodies = Object.values(content).flatMap(({ schema, examples = {} }) => [
    `<p>Corpo: ${renderInline(typeOf(schema))}.</p>`,
    ...examplesPart(examples),
  ])
  const entries = headerEntries(headers)
  return details(
    `<strong>${escapeHtml(status)}</strong> ${renderInline(description)}`,
    [
      ...bodies,
      ...(entries.length > 0 ? ['<p><strong>Cabeçalhos</strong></p>', definitions(entries)] : []),
    ].join('\n'),
    ` class="response"${status.startsWith('2') ? ' open' : ''}`,
  )
}

/** The first example is open. */
export function examplesPart(examples: Record<string, { summary?: string; value: unknown }>) {
  return Object.entries(examples).map(([name, { summary = name, value }], index) =>
    details(
      escapeHtml(`Exemplo: ${summary}`),
      jsonBlock(value),
      ` class="example"${index === 0 ? ' open' : ''}`,
    ),
  )
}
