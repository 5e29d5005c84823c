/**
 * Runs after the build, for `npm pack` and `npm publish`: bundles the declarations of each entry of the package, with
 * all types they refer to, into one file in `dist/types/`. The augmentation of Fastify (`answers/request-context.ts`,
 * `plugins/shared/server.ts`) is left out, because hosts never see our decorators, but for the one that they find
 * (`host/index.ts`).
 */
import { cpSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './bundling.js'
import { importTestPackage } from './test-packages.js'

const { CompilerState, Extractor, ExtractorConfig } = await importTestPackage('@microsoft/api-extractor')
const dist = join(root, 'dist')
const { compilerOptions: { target, lib, module, moduleResolution, types, strict, exactOptionalPropertyTypes } } = JSON
  .parse(readFileSync(join(root, 'tsconfig.json'), 'utf8'))
const compilerOptions = {
  target,
  lib,
  module,
  moduleResolution,
  types,
  strict,
  exactOptionalPropertyTypes,
  skipLibCheck: true,
  typeRoots: [join(root, 'node_modules/@types')]
}
const QUIET = { default: { logLevel: 'none' } }

/** What a host finds, as the source has it. */
const [AUGMENTATION] = /^declare module 'fastify' \{\n.*?\n\}\n/ms
  .exec(readFileSync(join(root, 'host/index.ts'), 'utf8'))

/** The settings for an entry, the path of its declarations. */
const configFor = (entry, into) => ExtractorConfig.prepare({
  packageJsonFullPath: join(root, 'package.json'),
  configObject: {
    projectFolder: root,
    mainEntryPointFilePath: entry,
    newlineKind: 'lf',
    compiler: { overrideTsconfig: { compilerOptions, files: [entry] } },
    dtsRollup: { enabled: true, untrimmedFilePath: into },
    apiReport: { enabled: false },
    docModel: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages: {
      compilerMessageReporting: { default: { logLevel: 'error' } },
      extractorMessageReporting: QUIET,
      tsdocMessageReporting: QUIET
    }
  }
})

/** @returns the declarations of all exports of an entry */
function bundled (config, compilerState) {
  const { succeeded } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: message => {
      if (message.messageId.startsWith('console-')) message.handled = message.logLevel !== 'error'
    }
  })
  if (!succeeded) throw new Error(`the declarations of ${config.mainEntryPointFilePath} were not bundled`)
  return readFileSync(config.untrimmedFilePath, 'utf8')
}

/** Writes derived types out in full, so that the published types do not need the declaration language. */
function writtenOut (text) {
  for (const [line, name] of text.matchAll(/^export type (\w+) = Static<typeof \1>;\n/gm)) {
    const [declared, type = ''] =
      new RegExp(`^export declare const ${name}: (?:import\\("\\S+"\\)\\.)?Message<(.*|[^]*?\\n\\S.*)>;\\n`, 'm')
        .exec(text) ?? []
    if (type !== '' && !/^\S.*, \w+: /m.test(type)) {
      text = text.replace(line, '').replace(declared, () => `export type ${name} = ${type};\n`)
    }
  }
  return text
}

const work = mkdtempSync(join(dist, 'declarations-'))
try {
  const plain = join(work, 'plain')
  for (const folder of readdirSync(dist, { withFileTypes: true })) {
    if (!/^(?:test|examples|types|bundle|dev|declarations-.*)$/.test(folder.name)) {
      cpSync(join(dist, folder.name), join(plain, folder.name), {
        recursive: true, filter: path => !/\.\w+$/.test(path) || path.endsWith('.d.ts')
      })
    }
  }
  for (const file of readdirSync(plain, { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts')) writeFileSync(join(plain, file), writtenOut(readFileSync(join(plain, file), 'utf8')))
  }
  const made = join(work, 'types')
  const configs = Object.entries({
    app: join(plain, 'app.d.ts'), schemas: join(dist, 'schemas/public.d.ts'), testing: join(plain, 'testing/index.d.ts')
  })
    .map(([name, entry]) => configFor(entry, join(made, `${name}.d.ts`)))
  // One analysis of the types for all entries.
  const state = CompilerState.create(configs[0], {
    additionalEntryPoints: configs.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath)
  })
  for (const config of configs) {
    const augmentation = config.untrimmedFilePath === join(made, 'app.d.ts') ? AUGMENTATION : ''
    const text = `/// <reference types="node" />\n\n${bundled(config, state)}${augmentation}`
    // The same for CommonJS, of which TypeScript wants a file of its own.
    for (const file of [config.untrimmedFilePath, config.untrimmedFilePath.replace(/ts$/, 'cts')]) {
      writeFileSync(file, text)
    }
  }
  rmSync(join(dist, 'types'), { recursive: true, force: true })
  renameSync(made, join(dist, 'types'))
} finally {
  rmSync(work, { recursive: true, force: true })
}
