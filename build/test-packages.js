/**
 * Packages that only tests, lint and packing need are in `test/package.json`; without them an installation takes a
 * third of the space. `npm test`, `npm run lint` and `npm pack` install them in `test/node_modules` (`install.js`);
 * `lint.js` and `declarations.js` load them from there.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './bundling.js'

export const testFolder = join(root, 'test')

const packagesOf = file => {
  try {
    const { '': _self, ...packages } = JSON.parse(readFileSync(join(testFolder, file), 'utf8')).packages
    return packages
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

/** Whether the installed packages match the lock. Optional packages may be absent on this platform. */
export function installed () {
  const locked = packagesOf('package-lock.json')
  const there = packagesOf('node_modules/.package-lock.json')
  if (locked === undefined || there === undefined) return false
  return Object.entries(locked).every(([path, { version, integrity, optional }]) =>
    path in there ? there[path].version === version && there[path].integrity === integrity : optional === true) &&
    Object.keys(there).every(path => path in locked)
}

/** Imports a test package. */
export const importTestPackage = async name =>
  await import(pathToFileURL(createRequire(join(testFolder, 'package.json')).resolve(name)).href)
