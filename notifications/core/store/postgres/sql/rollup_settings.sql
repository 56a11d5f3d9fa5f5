-- Set the planner for rollup_add until the end of the transaction. The statement joins its own intermediate rows, of which
-- Postgres knows no statistics: hash joins are fast for any number of rows, a nested loop would compare each row with each,
-- and the cost of such a plan would start the compiler (jit).
SELECT set_config('enable_nestloop', 'off', true), set_config('enable_mergejoin', 'off', true),
       set_config('enable_sort', 'off', true), set_config('jit', 'off', true), set_config('work_mem', '32MB', true)
