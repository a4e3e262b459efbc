/* scheduler.cpp - a scheduler for C++17, derived from timingwheel: jobs at a
 * fixed rate or with a fixed delay, which may throw, and end the scheduler.
 *     c++ -std=c++17 -Wall -Wextra scheduler.cpp -o scheduler && ./scheduler
 * SPDX-License-Identifier: MIT */
#define TIMINGWHEEL_IMPLEMENTATION
#include "timingwheel.h"
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <thread>
using namespace std::chrono;
// Any duration in nanoseconds: 0 if negative, UINT64_MAX (never) if too long.
template <class R, class P> uint64_t to_ns(duration<R, P> d)
{
    auto ns = duration<long double, std::nano>(d).count();
    return ns < 0 ? 0 : ns < 0x1p64L ? uint64_t(ns) : UINT64_MAX;
}
class Scheduler : timingwheel
{
    struct Job : tw_timer {
        std::function<bool()> work; // returns false to end the job
        uint64_t period;
        bool has_rate;
    };
    std::shared_ptr<bool> life = std::make_shared<bool>(); // shows its end
    static uint64_t now()
    {
        return uint64_t(steady_clock::now().time_since_epoch() / 1ns);
    }

  public:
    Scheduler()
    {
        tw_config config{1000000, now(), 0, 0, nullptr}; // tick, start
        tw_init(this, &config);
    }
    ~Scheduler() // frees the jobs, and those that their destructors add
    {
        auto free = [](tw_timer *t, void *) { delete static_cast<Job *>(t); };
        while (tw_drain(this, free, nullptr) > 0)
            ;
        tw_destroy(this);
    }
    Scheduler(const Scheduler &) = delete; // lists point into it
    template <class D>
    void add(std::function<bool()> work, D period, bool has_rate)
    {
        auto job = new Job{TW_TIMER_INIT(nullptr), std::move(work),
                           to_ns(period), has_rate};
        tw_start(this, job, tw_after(now(), job->period)); // cannot fail
    }
    void run() // until no job is left, a job throws, or ends the Scheduler
    {
        std::weak_ptr<bool> alive = life;
        while (!alive.expired() && tw_count(this) > 0) {
            std::unique_ptr<Job> job(static_cast<Job *>(tw_poll(this, now())));
            if (job == nullptr) {
                nanoseconds wait(tw_wait(this, now(), 1000000000));
                std::this_thread::sleep_for(wait);
            } else if (job->work() && !alive.expired()) {
                uint64_t next = tw_after(now(), job->period);
                if (job->has_rate) // keeps the phase, and skips what was missed
                    next = tw_next_period(tw_deadline(job.get()), job->period,
                                          now(), nullptr);
                tw_start(this, job.release(), next); // cannot fail
            }
        }
    }
};
int main()
{
    int rate = 0, delay = 0;
    auto s = std::make_unique<Scheduler>();
    auto add_job = [](Scheduler *t) { t->add([] { return true; }, 1s, true); };
    // No owner: when the last copy ends, add_job adds a job to s in its end.
    std::shared_ptr<Scheduler> owned(s.get(), add_job);
    s->add([owned = std::move(owned)] { return true; }, hours::max(), true);
    s->add([&] { return ++rate < 5; }, 20ms, true);   // at a fixed rate
    s->add([&] { return ++delay > 0; }, 30ms, false); // with a fixed delay
    s->add([]() -> bool { throw std::logic_error("thrown"); }, 200ms, false);
    s->add([&] { return s.reset(), true; }, 250ms, false); // ends it
    while (s != nullptr)
        try {
            s->run();
        } catch (const std::exception &error) {
            std::cout << error.what() << ": " << rate << ", " << delay << "\n";
        }
}
