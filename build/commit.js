// Which build this is, for `/version`.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'

/**
 * The commit and the state of a clone, `clean` or `dirty`. Elsewhere a digest of the launcher, so that builds of
 * different sources differ; its state is `archive`.
 */
export function commitOf (root, launcher) {
  const git = (...args) => spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? ''
  if (git('rev-parse', '--show-toplevel') !== realpathSync(root)) { // a package may be installed in another clone
    return { commit: createHash('sha1').update(launcher).digest('hex'), state: 'archive' }
  }
  const state = git('status', '--porcelain', '--untracked-files=no') === '' ? 'clean' : 'dirty'
  return { commit: git('rev-parse', 'HEAD'), state }
}
